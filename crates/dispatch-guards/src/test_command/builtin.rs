//! The shapes that are allowed without configuration (P6.2).

use super::shape::{Part, Placeholder, TestShape};

fn word(text: &str) -> Part {
    Part::Word(text.to_owned())
}

fn flag(text: &str, placeholder: Placeholder) -> Vec<Part> {
    vec![word(text), Part::One(placeholder)]
}

fn joined(text: &'static str, placeholder: Placeholder) -> Vec<Part> {
    vec![Part::Joined(text, placeholder)]
}

/// `test[:name]` or `run test[:name]`, each with files.
fn script(program: &str, selectors: Vec<Vec<Part>>, after: &[Part]) -> Vec<TestShape> {
    let mut start = vec![word(program)];
    if !selectors.is_empty() {
        start.push(Part::Options(selectors));
    }
    [vec![], vec![word("run")]]
        .into_iter()
        .map(|run| {
            let mut parts = start.clone();
            parts.extend(run);
            parts.push(Part::One(Placeholder::TestScript));
            parts.extend_from_slice(after);
            TestShape::of(parts)
        })
        .collect()
}

fn javascript() -> Vec<TestShape> {
    let files = Part::Any(Placeholder::Path);
    let separated = Part::Optional(vec![word("--"), Part::Any(Placeholder::Path)]);
    let npm_selectors = || {
        vec![
            flag("-w", Placeholder::Name),
            flag("--workspace", Placeholder::Name),
            joined("--workspace", Placeholder::Name),
        ]
    };
    let mut shapes = script(
        "pnpm",
        vec![
            flag("--filter", Placeholder::Name),
            joined("--filter", Placeholder::Name),
            flag("-F", Placeholder::Name),
            vec![Part::OneOf(vec!["-r", "--recursive", "-w", "--workspace-root"])],
        ],
        std::slice::from_ref(&files),
    );
    shapes.extend(script(
        "npm",
        npm_selectors(),
        &[Part::Options(npm_selectors()), files.clone(), separated],
    ));
    shapes.extend(script(
        "yarn",
        vec![flag("workspace", Placeholder::Name)],
        std::slice::from_ref(&files),
    ));
    shapes.extend(script(
        "bun",
        vec![flag("--filter", Placeholder::Name), joined("--filter", Placeholder::Name)],
        std::slice::from_ref(&files),
    ));
    shapes.push(TestShape::of(vec![word("deno"), word("test"), files]));
    shapes
}

fn rust() -> Vec<TestShape> {
    let options = Part::Options(vec![
        flag("-p", Placeholder::Name),
        flag("--package", Placeholder::Name),
        flag("--test", Placeholder::Name),
        flag("--bin", Placeholder::Name),
        vec![Part::OneOf(vec!["--lib", "--workspace"])],
    ]);
    [vec![word("test")], vec![word("nextest"), word("run")]]
        .into_iter()
        .map(|verb| {
            let mut parts = vec![word("cargo")];
            parts.extend(verb);
            parts.push(options.clone());
            parts.push(Part::Optional(vec![Part::One(Placeholder::Name)]));
            parts.push(options.clone());
            TestShape::of(parts)
        })
        .collect()
}

fn python() -> Vec<TestShape> {
    let options =
        Part::Options(vec![flag("-k", Placeholder::Expr), vec![Part::One(Placeholder::Path)]]);
    [
        vec![word("pytest")],
        vec![Part::OneOf(vec!["python", "python3"]), word("-m"), word("pytest")],
        vec![word("uv"), word("run"), word("pytest")],
        vec![word("uv"), word("run"), word("python"), word("-m"), word("pytest")],
    ]
    .into_iter()
    .map(|mut parts| {
        parts.push(options.clone());
        TestShape::of(parts)
    })
    .collect()
}

fn jvm() -> Vec<TestShape> {
    let maven = Part::Options(vec![
        flag("-pl", Placeholder::Name),
        joined("-Dtest", Placeholder::Name),
        vec![Part::OneOf(vec!["-am", "-q", "-B"])],
    ]);
    let gradle = Part::Options(vec![
        flag("--tests", Placeholder::Name),
        vec![Part::One(Placeholder::GradleTest)],
    ]);
    vec![
        TestShape::of(vec![
            Part::OneOf(vec!["mvn", "./mvnw"]),
            maven.clone(),
            Part::OneOf(vec!["test", "verify"]),
            maven,
        ]),
        TestShape::of(vec![
            Part::OneOf(vec!["gradle", "./gradlew"]),
            Part::One(Placeholder::GradleTest),
            gradle,
        ]),
    ]
}

fn others() -> Vec<TestShape> {
    let paths = Part::Any(Placeholder::Path);
    vec![
        TestShape::of(vec![
            word("go"),
            word("test"),
            Part::Options(vec![
                flag("-run", Placeholder::Pattern),
                vec![Part::One(Placeholder::GoPackage)],
            ]),
        ]),
        TestShape::of(vec![
            word("dotnet"),
            word("test"),
            Part::Optional(vec![Part::One(Placeholder::Path)]),
            Part::Optional(flag("--filter", Placeholder::Name)),
        ]),
        TestShape::of(vec![
            Part::OneOf(vec!["make", "just"]),
            Part::One(Placeholder::TestTarget),
            Part::Any(Placeholder::TestTarget),
        ]),
        TestShape::of(vec![word("bundle"), word("exec"), word("rspec"), paths.clone()]),
        TestShape::of(vec![word("mix"), word("test"), paths.clone()]),
        TestShape::of(vec![
            Part::OneOf(vec!["phpunit", "vendor/bin/phpunit", "./vendor/bin/phpunit"]),
            Part::Options(vec![
                flag("--filter", Placeholder::Name),
                vec![Part::One(Placeholder::Path)],
            ]),
        ]),
        TestShape::of(vec![
            word("ctest"),
            Part::Options(vec![
                flag("-R", Placeholder::Pattern),
                flag("--test-dir", Placeholder::Path),
            ]),
        ]),
    ]
}

/// Every built-in shape.
pub(super) fn shapes() -> Vec<TestShape> {
    let mut shapes = javascript();
    shapes.extend(rust());
    shapes.extend(python());
    shapes.extend(jvm());
    shapes.extend(others());
    shapes
}
