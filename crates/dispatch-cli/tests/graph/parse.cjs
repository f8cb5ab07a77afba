// Reads a flow chart from standard input with the real Mermaid and prints its nodes and edges.
// Called with the file of the library. The grammar needs no browser; the cleaning of labels does, and is left out.
const { readFileSync } = require('node:fs');
const vm = require('node:vm');

globalThis.window = globalThis;
Function.prototype.addHook = () => {};
Function.prototype.sanitize = (text) => text;
vm.runInThisContext(readFileSync(process.argv[2], 'utf8'), { filename: process.argv[2] });

(async () => {
  globalThis.mermaid.initialize({ maxTextSize: 10000000, maxEdges: 100000 });
  const diagram = await globalThis.mermaid.mermaidAPI.getDiagramFromText(readFileSync(0, 'utf8'));
  const nodes = [...diagram.db.getVertices().values()].map((node) => [node.id, node.text, node.link ?? null]);
  const edges = diagram.db.getEdges().map((edge) => [edge.start, edge.end]);
  console.log(JSON.stringify({ type: diagram.type, nodes, edges }));
})().catch((error) => {
  console.error(String(error));
  process.exit(1);
});
