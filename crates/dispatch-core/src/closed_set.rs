//! A closed set of kebab-case names with one home in the code.

/// Declares an enum whose variants each have one fixed text, used in JSON, records and what a person reads.
macro_rules! closed_set {
    ($(#[$outer:meta])* $name:ident, $what:literal { $($(#[$inner:meta])* $variant:ident = $text:literal,)+ }) => {
        $(#[$outer])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name { $($(#[$inner])* #[doc = concat!("`", $text, "`.")] $variant,)+ }

        impl $name {
            /// Every member, in the order they are listed in.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// The one text of this member.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text,)+ }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.as_str())
            }
        }

        impl std::str::FromStr for $name {
            type Err = $crate::names::UnknownName;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                Self::ALL.iter().copied().find(|member| member.as_str() == text).ok_or_else(|| {
                    $crate::names::UnknownName { what: $what, found: text.to_owned() }
                })
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }
    };
}
