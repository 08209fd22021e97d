"""Walking a command as the shell would run it: statements in order, pipes joined, both ways of every branch."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping

from tree_sitter import Node

from laneway.sandbox.shell.bounds import DEEPEST, MOST_EXPANDED, MOST_STEPS, TooMuch
from laneway.sandbox.shell.expand import Expander
from laneway.sandbox.shell.grammar import parse, reordered, review, straightened
from laneway.sandbox.shell.holes import has_hole, holes, without_holes
from laneway.sandbox.shell.invocation import Invocation
from laneway.sandbox.shell.redirects import Redirects, gather
from laneway.sandbox.shell.rules import Finding
from laneway.sandbox.shell.scope import Scope
from laneway.sandbox.shell.streams import NOTHING, Stream, merged, text

Invoke = Callable[["Walk", Invocation], Stream]
_MOST_ROUNDS = 60
_LONGEST_ERROR = 300
"""Characters of a text that does not parse and may still be plainly harmless."""
_BODIES = {
    "program", "compound_statement", "do_group", "list", "else_clause", "elif_clause", "if_statement", "negated_command",
    "ERROR", "then_clause", "case_item",
}  # fmt: skip
_SKIPPED = {
    "comment",
    "heredoc_body",
    "heredoc_start",
    "heredoc_end",
    "word",
    "number",
    "string",
    "raw_string",
    "variable_name",
    "extglob_pattern",
    "concatenation",
    "simple_expansion",
    "expansion",
    "file_descriptor",
    "regex",
    "ansi_c_string",
    "test_operator",
    "special_variable_name",
    "heredoc_content",
    "string_content",
    "binary_expression",
    "postfix_expression",
    "unary_expression",
    "array",
}


class Walk:
    """One judgement: what was found so far, and how much of the text was read."""

    def __init__(self, invoke: Invoke, risky: Callable[[str], bool]) -> None:
        self.findings: list[Finding] = []
        self.changes = False
        self._invoke = invoke
        self._risky = risky
        self.traps: list[tuple[str, Scope]] = []
        """What is to run when the shell ends, and the shell it would run in."""
        self._depth = 0
        self._steps = 0
        self._expanded = 0
        self._nested = 0

    def found(self, findings: Iterable[Finding]) -> None:
        self.findings.extend(findings)

    def shell(self, source: str, scope: Scope, stdin: Stream = NOTHING, *, piped: bool = False) -> Stream:
        """Shell text is walked in a scope; what it prints comes back."""
        bare = source.strip()
        if not bare:
            return text("")
        if not without_holes(bare).strip():
            self.found([_opaque(bare)])
            return Stream(None)
        if self._depth >= DEEPEST:
            raise TooMuch
        self._depth += 1
        root, encoded = _read(straightened(source))
        here = Expander(encoded, self._substitute, self._spend)
        before = len(self.findings)
        printed = self.statement(root, here, scope, stdin, piped=piped)
        again = review(root, encoded)
        for node in again.substitutions:
            if node.start_byte not in here.visited:
                self._substitute(node, scope.copy(), here)
        if (
            (root.has_error or again.lost)
            and len(self.findings) == before
            and (len(source) > _LONGEST_ERROR or self._risky(source))
        ):
            self.found(
                [Finding("unparsed", "The text is not understood as shell, and names programs that can do harm.")]
            )
        self._depth -= 1
        return printed

    def ended(self) -> None:
        """What was left to run at the end is walked, with the variables as they are then."""
        for source, scope in self.traps[:20]:
            self.shell(source, scope.copy())

    def run(
        self,
        argv: list[str],
        scope: Scope,
        stdin: Stream = NOTHING,
        *,
        piped: bool = False,
        environment: Mapping[str, str] | None = None,
    ) -> Stream:
        """One command line, already in words, is judged; what it prints comes back."""
        self._step()
        if not argv:
            return text("")
        self._nested += 1
        if self._nested > DEEPEST:
            raise TooMuch
        printed = self._invoke(self, Invocation(argv[0], argv[1:], scope, stdin, piped, environment or {}))
        self._nested -= 1
        return printed

    def _spend(self, characters: int) -> None:
        self._expanded += characters
        if self._expanded > MOST_EXPANDED:
            raise TooMuch

    def _step(self) -> None:
        self._steps += 1
        if self._steps > MOST_STEPS:
            raise TooMuch

    def _substitute(self, node: Node, scope: Scope, here: Expander) -> Stream:
        printed: Stream = text("")
        here.visited.add(node.start_byte)
        inner = scope.copy(written=scope.written)
        for child in node.named_children:
            if child.type == "file_redirect":
                redirects = gather([child], here, scope)
                printed = merged(printed, redirects.stdin or NOTHING)
                continue
            printed = merged(printed, self.statement(child, here, inner, NOTHING, piped=True))
        return printed

    def statement(
        self, node: Node, here: Expander, scope: Scope, stdin: Stream = NOTHING, *, piped: bool = False
    ) -> Stream:
        """What one statement prints, its findings collected."""
        self._step()
        self._depth += 1
        if self._depth > 5 * DEEPEST:
            raise TooMuch
        try:
            return self._statement(node, here, scope, stdin, piped)
        finally:
            self._depth -= 1

    def _statement(self, node: Node, here: Expander, scope: Scope, stdin: Stream, piped: bool) -> Stream:
        match node.type:
            case "command":
                return self._command(node, here, scope, stdin, piped, [])
            case "pipeline":
                return self._pipeline(node.named_children, here, scope, stdin, piped)
            case "redirected_statement":
                return self._redirected(node, here, scope, stdin, piped)
            case "subshell":
                return self._body(node.named_children, here, scope.copy(written=scope.written), stdin, piped)
            case "variable_assignment":
                self._assign(node, here, scope)
            case "variable_assignments" | "declaration_command":
                return self._declare(node, here, scope, piped)
            case "function_definition":
                self._define(node, here, scope)
            case "for_statement":
                return self._for(node, here, scope, stdin, piped)
            case "while_statement" | "c_style_for_statement":
                return self._while(node, here, scope, stdin, piped)
            case "case_statement":
                return self._body(
                    [child for child in node.named_children if child.type == "case_item"], here, scope, stdin, piped
                )
            case "test_command" | "unset_command":
                self._substitutions(node, here, scope)
            case kind if kind in _BODIES:
                return self._body(node.named_children, here, scope, stdin, piped)
        return text("")

    def _body(self, nodes: Iterable[Node], here: Expander, scope: Scope, stdin: Stream, piped: bool) -> Stream:
        printed: Stream = text("")
        for child in nodes:
            if child.type in _SKIPPED:
                self._substitutions(child, here, scope)
                continue
            printed = merged(printed, self.statement(child, here, scope, stdin, piped=piped))
        return printed

    def _pipeline(self, nodes: list[Node], here: Expander, scope: Scope, stdin: Stream, piped: bool) -> Stream:
        flowing = stdin
        for place, child in enumerate(nodes):
            last = place == len(nodes) - 1
            inner = scope.copy(written=scope.written, links=scope.links)
            flowing = self.statement(child, here, inner, flowing, piped=piped or not last)
        return flowing

    def _redirected(self, node: Node, here: Expander, scope: Scope, stdin: Stream, piped: bool) -> Stream:
        body = node.child_by_field_name("body")
        redirects = gather([child for child in node.named_children if child != body], here, scope)
        redirects.extra += here.between(node, body)
        self.found(redirects.findings)
        source = redirects.stdin or stdin
        onward = piped or bool(redirects.pipeline) or redirects.hides_output
        printed = self._redirected_body(body, here, scope, source, onward, redirects)
        printed = self._into_files(redirects, printed, body is None, scope, here, body)
        for following in redirects.pipeline:
            printed = self._pipeline(following.named_children, here, scope, printed, piped)
        for following in redirects.right:
            printed = merged(printed, self.statement(following, here, scope, stdin, piped=piped))
        return printed

    def _redirected_body(
        self, body: Node | None, here: Expander, scope: Scope, stdin: Stream, piped: bool, redirects: Redirects
    ) -> Stream:
        if body is None:
            return stdin if stdin.given else text("")
        if body.type == "command":
            return self._command(body, here, scope, stdin, piped, redirects.extra)
        if body.type == "pipeline" and redirects.stdin is not None:
            # A here-document or file at the end of a pipeline feeds its last command.
            return self._fed_pipeline(body.named_children, here, scope, stdin, piped)
        return self.statement(body, here, scope, stdin, piped=piped)

    def _fed_pipeline(self, nodes: list[Node], here: Expander, scope: Scope, stdin: Stream, piped: bool) -> Stream:
        self._pipeline(nodes, here, scope.copy(), NOTHING, piped)
        return self.statement(nodes[-1], here, scope.copy(written=scope.written), stdin, piped=piped)

    def _into_files(
        self, redirects: Redirects, printed: Stream, alone: bool, scope: Scope, here: Expander, body: Node | None
    ) -> Stream:
        said = here.raw(body) if body is not None else ""
        findings, changes = redirects.settle(printed, alone, scope, said)
        self.found(findings)
        self.changes = self.changes or changes
        return text("") if redirects.hides_output else printed

    def _command(
        self, node: Node, here: Expander, scope: Scope, stdin: Stream, piped: bool, extra: list[str]
    ) -> Stream:
        argv: list[str] = []
        environment: dict[str, str] = {}
        inner = [child for child in node.named_children if child.type.endswith("_redirect")]
        for child in node.named_children:
            if child.type == "variable_assignment":
                name, value = self._assigned(child, here, scope)
                environment[name] = " ".join(value)
            elif child.type not in ("comment", "file_redirect", "herestring_redirect", "heredoc_redirect"):
                argv += here.words(child, scope)
        if not inner:
            return self._named(argv + extra, scope, stdin, piped, environment)
        redirects = gather(inner, here, scope)
        self.found(redirects.findings)
        printed = self._named(
            argv + redirects.extra + extra,
            scope,
            redirects.stdin or stdin,
            piped or redirects.hides_output,
            environment,
        )
        return self._into_files(redirects, printed, not argv, scope, here, node)

    def _named(self, argv: list[str], scope: Scope, stdin: Stream, piped: bool, environment: dict[str, str]) -> Stream:
        if argv and has_hole(argv[0]) and not without_holes(argv[0]).strip("/"):
            self.found([_opaque(argv[0])])
            self.changes = True
            return Stream(None, (), stdin.origins)
        return self.run(argv, scope, stdin, piped=piped, environment=environment)

    def _assigned(self, node: Node, here: Expander, scope: Scope) -> tuple[str, list[str]]:
        name_node, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        name = re.sub(r"\[.*", "", here.raw(name_node)) if name_node else ""
        if value is not None and value.type == "array":
            return name, [word for child in value.named_children for word in here.words(child, scope)]
        given = here.value(value, scope)
        adds = b"+=" in here.source[node.start_byte : (value.start_byte if value else node.end_byte)]
        return name, [(scope.variables.get(name) or [""])[0] + given if adds else given]

    def _assign(self, node: Node, here: Expander, scope: Scope) -> None:
        name, value = self._assigned(node, here, scope)
        scope.variables[name] = value

    def _declare(self, node: Node, here: Expander, scope: Scope, piped: bool) -> Stream:
        words = [here.raw(node).split(None, 1)[0]]
        for child in node.named_children:
            if child.type == "variable_assignment":
                self._assign(child, here, scope)
                name, value = self._assigned(child, here, scope)
                words.append(f"{name}={' '.join(value)}")
            else:
                words += here.words(child, scope)
        if node.type == "declaration_command":
            return self.run(words, scope, piped=piped)
        return text("")

    def _define(self, node: Node, here: Expander, scope: Scope) -> None:
        name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
        if name is not None and body is not None:
            scope.functions[here.raw(name)] = (body, here.source)

    def call(self, name: str, args: list[str], scope: Scope, stdin: Stream, *, piped: bool) -> Stream:
        """A function defined in this command is called."""
        body, source = scope.functions[name]
        said = source[body.start_byte : body.end_byte]
        if name in scope.calling:
            if b"|" in said or b"&" in said:
                self.found([Finding("exhaust", f"{name} starts itself over and over.")])
            return Stream(None)
        outer, calling = scope.positional, scope.calling
        scope.positional, scope.calling = args, (*calling, name)
        printed = self.statement(body, Expander(source, self._substitute, self._spend), scope, stdin, piped=piped)
        scope.positional, scope.calling = outer, calling
        return printed

    def _for(self, node: Node, here: Expander, scope: Scope, stdin: Stream, piped: bool) -> Stream:
        variable = node.child_by_field_name("variable")
        values = [word for child in node.children_by_field_name("value") for word in here.words(child, scope)]
        body = node.child_by_field_name("body")
        if variable is None or body is None:
            return text("")
        # Values of one shape mean the same to every rule: file1 and file2, not src and build.
        shapes = {re.sub(r"\d+", "0", value): value for value in values}
        if len(shapes) > _MOST_ROUNDS:
            raise TooMuch
        printed: Stream = text("")
        for value in shapes.values() if shapes else [*(scope.positional or [])]:
            scope.variables[here.raw(variable)] = [value]
            printed = merged(printed, self.statement(body, here, scope, stdin, piped=piped))
        return printed

    def _while(self, node: Node, here: Expander, scope: Scope, stdin: Stream, piped: bool) -> Stream:
        said = here.raw(node)
        endless = re.match(
            r"(while\s+(:|true|1|\[\s*1\s*\]|\(\(\s*1\s*\)\))\s*[;\n]|until\s+false|for\s*\(\(\s*;\s*;\s*\)\))", said
        )
        foreground = re.sub(r"[^;&|{}\n]*[^&>|]&(?![&>\d])", "", said)
        if endless and foreground != said and not re.search(r"\b(sleep|wait|break|read)\b", foreground):
            self.found([Finding("exhaust", "It starts processes without end.")])
        if (
            endless
            and re.search(r">>|\bmkdir\b|\bfallocate\b|\bdd\b|\+=", said)
            and not re.search(r"\b(sleep|wait|break|read|exit)\b", said)
        ):
            self.found([Finding("exhaust", "It writes without end.")])
        for child in node.named_children:
            if child.type == "variable_assignment":
                self._assign(child, here, scope)
        nodes = [
            child for child in node.named_children if child.type not in _SKIPPED and child.type != "variable_assignment"
        ]
        return self._body(nodes, here, scope, stdin, piped)

    def _substitutions(self, node: Node, here: Expander, scope: Scope) -> None:
        """Command substitutions inside tests and patterns run as well."""
        if node.type in ("command_substitution", "process_substitution"):
            self._substitute(node, scope, here)
            return
        for child in node.named_children:
            self._substitutions(child, here, scope)


def _read(source: str) -> tuple[Node, bytes]:
    """The tree of a text; if it has errors that here-documents explain, of the text without them."""
    root, encoded = parse(source)
    if root.has_error and "<<" in source:
        other, moved = parse(reordered(source))
        if not other.has_error:
            return other, moved
    return root, encoded


def _opaque(word: str) -> Finding:
    labels = set(holes(word))
    if "net" in labels:
        return Finding("network-code", "It runs code that comes from the network.")
    if labels & {"decoded", "secret", "file"}:
        return Finding("opaque-code", "It runs code that the text does not show.")
    return Finding("unknown-program", "It runs something whose name the text does not tell.")
