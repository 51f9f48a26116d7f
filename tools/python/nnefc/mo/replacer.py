"""The base classes of transformations."""

from __future__ import annotations

import difflib
import threading
from abc import ABCMeta
from collections.abc import Callable, Iterable, Sequence
from typing import Any, ClassVar, Union

from nnefc._nnefc import TransformError as Error
from nnefc.mo.graph.data_node import DataNode
from nnefc.mo.graph.graph import Graph, Node, NodeId, Port, _fits


class _Running(threading.local):
    """The access to the other transformations of the compilation that runs in a thread."""

    switch: Callable[[type, bool | None], bool | None] | None = None


RUNNING = _Running()


class _Kind(ABCMeta):
    """The class of transformations: `enabled`, set while a model is transformed, applies to this compilation."""

    def __setattr__(cls, name: str, value: Any) -> None:
        if name != "enabled" or RUNNING.switch is None:
            super().__setattr__(name, value)
        elif RUNNING.switch(cls, bool(value)) is None and not hasattr(cls, "before_it"):
            raise Error(f"`{cls.__module__}.{cls.__qualname__}` cannot be switched: it is not a transformation of this model")

    def __getattribute__(cls, name: str) -> Any:
        state = RUNNING.switch(cls, None) if name == "enabled" and RUNNING.switch is not None else None
        return super().__getattribute__(name) if state is None else state


class Transformation(metaclass=_Kind):
    """A graph transformation. Class members may be overridden."""

    enabled: bool = True
    id: str = ""
    run_not_recursively: bool = False
    force_clean_up: bool = False
    force_shape_inference: bool = False
    graph_condition: Sequence[Callable[[Graph], bool]] = ()
    replacement_id: str = ""
    # Name of the corresponding built-in transformation.
    built_in: ClassVar[str] = ""
    phase: ClassVar[str] = "front"
    kind: ClassVar[str] = ""
    driven_by: ClassVar[str] = ""
    # File of the module.
    file: ClassVar[str] = ""
    log: Callable[[str], None]
    warn: Callable[[str], None]

    def run_before(self) -> Sequence[type]:
        """The transformations that run later."""
        return [_anchor(f"{self.phase.capitalize()}Finish")]

    def run_after(self) -> Sequence[type]:
        """The transformations that run earlier."""
        return [_anchor(f"{self.phase.capitalize()}Start")]


def _anchor(name: str) -> type:
    return type(name, (Transformation,), {"built_in": name})


class ReplacementPattern(Transformation):
    """Replaces each match of a pattern. Overrides `find_and_replace_pattern`, or `pattern` and the replacement."""

    def pattern(self) -> dict[str, Any]:
        """Returns the nodes and edges of the pattern."""
        raise Error(f"{type(self).__name__} overrides neither `find_and_replace_pattern` nor `pattern`")

    def replace_pattern(self, graph: Graph, match: dict[str, Any]) -> None:
        """Replaces a match."""
        raise Error(f"{type(self).__name__} has a pattern and does not override `replace_pattern`")

    def find_and_replace_pattern(self, graph: Graph) -> None:
        """Replaces all initial matches in order."""
        lost = 0
        for match in find_matches(graph, self.pattern()):
            if all(graph._native.exists(item._number) for item in match.values()):
                self.replace_pattern(graph, match)
            else:
                lost += 1
        if lost:
            self.warn(f"{lost} of the matches left out: an earlier replacement removed a node")


def find_matches(graph: Graph, pattern: dict[str, Any]) -> list[dict[str, Any]]:
    """Returns the sub-graphs isomorphic to a pattern, without further edges between their nodes."""
    wanted_nodes, wanted_edges = _parts_of(pattern)
    nodes = [Node(graph, name) for name in graph.nodes()]
    given = []
    data: dict[str, dict[str, Any]] = {}
    for alias, wanted in wanted_nodes:
        graph._report_unknown(wanted)
        if wanted.get("kind") == "data":
            data[alias] = {key: value for key, value in wanted.items() if key != "kind"}
            given.append((alias, True, list[int]()))
            continue
        fitting = [n._number for n in nodes if all(_fits(n._find(key), value) for key, value in wanted.items())]
        given.append((alias, False, fitting))
    edges = []
    for producer, consumer, ports in wanted_edges:
        edges.append((producer, consumer, _ports(ports.get("in")), _ports(ports.get("out"))))
    matches = []
    for found in graph._native.matches(given, edges):
        match: dict[str, Any] = Match()
        for alias, (number, output) in found.items():
            name = graph._id(number)
            match[alias] = Node(graph, name) if output is None else DataNode(graph, name, output)
        if all(_fits(match[alias]._find(key), value) for alias, test in data.items() for key, value in test.items()):
            matches.append(match)
    return matches


def _parts_of(pattern: Any) -> tuple[list[tuple[str, dict[str, Any]]], list[tuple[str, str, dict[str, Any]]]]:
    """Returns the nodes and edges of a pattern; raises Error for mistakes in it."""
    if not isinstance(pattern, dict):
        raise Error(f"the pattern is {pattern!r}; expected a dictionary with `nodes` and `edges`")
    for key in pattern:
        if key not in ("nodes", "edges", "node_attrs", "edge_attrs"):
            raise Error(f"the pattern has the unknown key `{key}`{_meant(key, ('nodes', 'edges'))}")
    for key in ("nodes", "edges"):
        if not isinstance(pattern.get(key), (list, tuple)):
            what = f"`{key}` {pattern[key]!r}" if key in pattern else f"no `{key}`"
            raise Error(f"the pattern has {what}; expected a list of tuples")
    nodes = []
    for item in pattern["nodes"]:
        is_node = isinstance(item, (list, tuple)) and len(item) == 2 and isinstance(item[0], str) and isinstance(item[1], dict)
        if not is_node:
            raise Error(f"{item!r} is not a node of a pattern; expected `(alias, attributes)`")
        nodes.append((item[0], item[1]))
    edges = []
    for item in pattern["edges"]:
        is_edge = isinstance(item, (list, tuple)) and len(item) in (2, 3) and all(isinstance(end, str) for end in item[:2])
        ports = item[2] if is_edge and len(item) == 3 else {}
        if not is_edge or not isinstance(ports, dict):
            raise Error(f"{item!r} is not an edge of a pattern; expected `(producer, consumer)` or `(producer, consumer, ports)`")
        for key in ports:
            if key not in ("in", "out"):
                raise Error(f"the edge {item!r} has the unknown key `{key}`{_meant(key, ('in', 'out'))}")
        edges.append((item[0], item[1], ports))
    return nodes, edges


def _meant(key: object, known: tuple[str, str]) -> str:
    near = difflib.get_close_matches(str(key), known, 1)
    return f"; did you mean `{near[0]}`?" if near else f"; expected `{known[0]}` and `{known[1]}`"


class Match(dict[str, Any]):
    """Nodes by their aliases."""

    def __missing__(self, alias: str) -> Any:
        raise Error(f"the pattern has no alias `{alias}`; it has {', '.join(f'`{known}`' for known in self)}")


def _ports(value: Any) -> list[int]:
    if value is None:
        return []
    return [int(port) for port in value] if isinstance(value, (list, tuple, set)) else [int(value)]


PortOf = Union[Node, "tuple[Node, int]"]


class _SubGraphs:
    """The common base of sub-graph replacements."""

    def generate_sub_graph(self, graph: Graph, match: Any) -> Any:
        """Creates the nodes that replace a match, by names for the functions below."""
        raise Error(f"{type(self).__name__} overrides neither `replace_sub_graph` nor `generate_sub_graph`")

    def input_edges_match(self, graph: Graph, match: Any, new_sub_graph: Any) -> dict[Any, Any]:
        """Maps inputs of matched nodes to inputs of new nodes."""
        return {}

    def output_edges_match(self, graph: Graph, match: Any, new_sub_graph: Any) -> dict[Any, Any]:
        """Maps outputs of matched nodes to outputs of new nodes."""
        return {}

    def replace_sub_graph(self, graph: Graph, match: Any) -> None:
        """Replaces a match. Overrides are responsible for all changes."""
        made = self.generate_sub_graph(graph, match)
        for old, new in _edges_of(self.input_edges_match(graph, match, made), "input_edges_match"):
            _port(graph, made, new, False).connect(self._input(graph, match, old))
        outputs = []
        for old, new in _edges_of(self.output_edges_match(graph, match, made), "output_edges_match"):
            source, target = self._output(graph, match, old), _port(graph, made, new, True)
            outputs.append(((source.node._number, source.idx), (target.node._number, target.idx)))
        graph._native.take_outputs(outputs)
        graph.remove_nodes_from(self.nodes_to_remove(graph, match))

    def nodes_to_remove(self, graph: Graph, match: Any) -> list[NodeId]:
        """Returns the ids of the nodes to remove; by default all matched ones."""
        return [node.id for node in match.values()]

    def _input(self, graph: Graph, match: Any, key: Any) -> Port:
        return _port(graph, match, key, False).get_source()

    def _output(self, graph: Graph, match: Any, key: Any) -> Port:
        return _port(graph, match, key, True)


def _edges_of(edges: Any, function: str) -> list[tuple[Any, Any]]:
    if not isinstance(edges, dict):
        raise Error(f"`{function}` returned {edges!r}; expected a dictionary of nodes, ids, or pairs of one with a port")
    return list(edges.items())


def _port(graph: Graph, nodes: Any, key: Any, is_output: bool) -> Port:
    """Returns a port by a node, its id or its alias in `nodes`, each with the index of the port or for port 0."""
    if isinstance(key, Port):
        return key
    name, idx = key if isinstance(key, tuple) and len(key) == 2 else (key, 0)
    if isinstance(name, Node):
        return Port(name, idx, is_output)
    if not isinstance(name, str):
        raise Error(f"{key!r} is not a node, an id, or a pair of one with a port")
    is_alias = not isinstance(name, NodeId) and isinstance(nodes, dict) and name in nodes
    return Port(nodes[name] if is_alias else Node(graph, name), idx, is_output)


class FrontReplacementPattern(ReplacementPattern):
    """A transformation of the graph of NNEF operations. Overrides `replace_sub_graph` to replace matches of a `pattern`."""

    kind = "FrontReplacementPattern"

    def replace_sub_graph(self, graph: Graph, match: Any) -> None:
        """Replaces a match."""
        raise Error(f"{type(self).__name__} has a pattern and does not override `replace_sub_graph`")

    def replace_pattern(self, graph: Graph, match: dict[str, Any]) -> None:
        """Replaces a match."""
        self.replace_sub_graph(graph, match)


class FrontReplacementSubgraph(_SubGraphs, FrontReplacementPattern):
    """Replaces a sub-graph by another one."""

    kind = "FrontReplacementSubgraph"


class FrontReplacementOp(FrontReplacementSubgraph):
    """Replaces every node of the operation `op`. Overrides `replace_op`, or `replace_sub_graph` with the alias `op`."""

    kind = "FrontReplacementOp"
    op: str = ""

    def pattern(self) -> dict[str, Any]:
        """Returns a pattern with a single node."""
        return {"nodes": [("op", {"op": self.op})], "edges": []}

    def replace_op(self, graph: Graph, node: Node) -> Iterable[Any]:
        """Returns the ids of nodes with an output 0 to replace each output, or one node for all outputs."""
        raise Error(f"{type(self).__name__} overrides neither `replace_op` nor `replace_sub_graph`")

    def replace_sub_graph(self, graph: Graph, match: Any) -> None:
        """Calls `replace_op`, connects the returned nodes and removes the original node."""
        node = match["op"]
        made = _ends_of(graph, self.replace_op(graph, node))
        outputs = node.out_ports()
        for idx, port in outputs.items():
            if len(made) == 1 and len(outputs) > 1:
                only = made[0].node
                if idx in only.out_ports():
                    port.get_connection().set_source(only.out_port(idx))
            elif idx < len(made):
                port.get_connection().set_source(made[idx])
        graph.remove_node(node)


def _ends_of(graph: Graph, returned: Any) -> list[Port]:
    """Returns the outputs that `replace_op` returned: nodes, ids, or pairs of one with an output; or only one of these."""
    if returned is None:
        return []
    is_pair = isinstance(returned, tuple) and len(returned) == 2 and isinstance(returned[1], int)
    items = [returned] if is_pair or isinstance(returned, (str, Node, Port)) else returned
    if not isinstance(items, (list, tuple)):
        raise Error(f"`replace_op` returned {returned!r}; expected a list of ids of nodes")
    return [_port(graph, {}, item, True) for item in items]


class FrontExtractorOp(Transformation):
    """Reads attributes of every node of the operation `op` before front transformations run. Overrides `extract`.

    A later extractor for the same `op`, in the same or a later folder, replaces an earlier one.
    """

    kind = "FrontExtractorOp"
    op: str = ""
    # Extractors replaced by this one.
    replaced: Sequence[str] = ()

    def run_before(self) -> Sequence[type]:
        """The transformations that run later."""
        return [_anchor("FrontStart")]

    def run_after(self) -> Sequence[type]:
        """The transformations that run earlier."""
        return [_anchor("LoadFinish")]

    @classmethod
    def extract(cls, node: Node) -> bool:
        """Sets attributes of a node, for example with `Op.update_node_stat`. Returns whether it did."""
        raise Error(f"{cls.__name__} does not override `extract`")

    def find_and_replace_pattern(self, graph: Graph) -> None:
        """Calls `extract` for each node of the operation."""
        for other in self.replaced:
            self.log(f"it takes the place of {other}")
        for node in graph.get_op_nodes(op=self.op):
            called = f"`{node.id}` ({node.op})"
            try:
                is_done = self.extract(node)
            except (Exception, SystemExit) as error:
                what = str(error) if isinstance(error, Error) else f"{type(error).__name__}: {error}"
                raise Error(f"{called}: {what}").with_traceback(error.__traceback__) from error
            if not is_done:
                self.log(f"{called} is left as it is: `extract` returned {is_done}")


class MiddleReplacementPattern(ReplacementPattern):
    """A transformation of the graph of OpenVINO operations, with known shapes. Patterns may contain data nodes."""

    phase = "middle"
    kind = "MiddleReplacementPattern"


class BackReplacementPattern(ReplacementPattern):
    """A transformation of the final graph, before it is written or executed."""

    phase = "back"
    kind = "BackReplacementPattern"


class SubgraphMatch:
    """A sub-graph matched by an entry of the configuration."""

    def __init__(self, graph: Graph, parts: dict[str, Any]) -> None:
        self.graph, self.scope = graph, parts["scope"]
        self._nodes = [Node(graph, graph._id(number)) for number in parts["nodes"]]
        self._names: list[str] = parts["names"]
        self._inputs: list[list[tuple[Node, int]]] = [
            [(Node(graph, graph._id(number)), idx) for number, idx in ports] for ports in parts["inputs"]
        ]
        self._outputs = [(Node(graph, graph._id(number)), idx) for number, idx in parts["outputs"]]
        self.custom_replacement_desc = Description(parts["custom_attributes"], parts["id"])

    def inputs_count(self) -> int:
        """Returns the number of inputs."""
        return len(self._inputs)

    def outputs_count(self) -> int:
        """Returns the number of outputs."""
        return len(self._outputs)

    def input_nodes(self, port: int) -> list[tuple[Node, int]]:
        """Returns the nodes that read an external input, with their input indices."""
        if not 0 <= port < len(self._inputs):
            raise Error(f"the match has no input {port}; it has {len(self._inputs)}")
        return self._inputs[port]

    def single_input_node(self, port: int) -> tuple[Node, int]:
        """Returns the only node that reads an external input; raises Error for several."""
        nodes = self.input_nodes(port)
        if len(nodes) != 1:
            raise Error(f"input {port} of the match is read by {len(nodes)} nodes; expected one")
        return nodes[0]

    def output_node(self, port: int) -> tuple[Node, int]:
        """Returns the node that produces an output, with its output index."""
        if not 0 <= port < len(self._outputs):
            raise Error(f"the match has no output {port}; it has {len(self._outputs)}")
        return self._outputs[port]

    def matched_nodes_names(self) -> list[str]:
        """Returns the names of all nodes, including scopes."""
        return self._names

    def nodes(self) -> list[Node]:
        """Returns all nodes."""
        return self._nodes

    def node_by_pattern(self, pattern: str) -> Node | None:
        """Returns the node with a name in the scope that matches a regular expression; raises Error for several."""
        import re

        prefix = f"{self.scope}/" if self.scope else ""
        found = [n for n, name in zip(self._nodes, self._names) if re.match(prefix + pattern, name)]
        if len(found) > 1:
            raise Error(f"`{pattern}` matches {len(found)} nodes of the match; expected one")
        return found[0] if found else None

    def values(self) -> list[Node]:
        """Returns all nodes except results, for removal."""
        return [node for node in self._nodes if node.op != "Result"]


class Description:
    """The custom attributes of an entry of the configuration."""

    def __init__(self, custom_attributes: dict[str, Any], identity: str = "") -> None:
        self.custom_attributes, self.id = custom_attributes, identity


class FrontReplacementFromConfigFileSubGraph(_SubGraphs, Transformation):
    """Replaces a sub-graph matched by an entry of the configuration with the `replacement_id`."""

    kind = "FrontReplacementFromConfigFileSubGraph"
    driven_by = "sub_graph"

    def _input(self, graph: Graph, match: SubgraphMatch, key: Any) -> Port:
        return _port(graph, {}, match.input_nodes(key)[0] if isinstance(key, int) else key, False).get_source()

    def _output(self, graph: Graph, match: SubgraphMatch, key: Any) -> Port:
        return _port(graph, {}, match.output_node(key) if isinstance(key, int) else key, True)


class FrontReplacementFromConfigFileGeneral(Transformation):
    """Runs once per entry of the configuration with the `replacement_id`."""

    kind = "FrontReplacementFromConfigFileGeneral"
    driven_by = "general"

    def transform_graph(self, graph: Graph, replacement_descriptions: dict[str, Any]) -> None:
        """Transforms the graph, with the custom attributes of the entry."""
        raise Error(f"{type(self).__name__} does not override `transform_graph`")
