"""The operand of a `raise` -> which exceptions it can be, with which texts, written in which form."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from tree_sitter import Node

from tracker.harvest.binds import imported_from
from tracker.harvest.blocks import Frame
from tracker.harvest.calls import callee, method_of, returned
from tracker.harvest.classes import filled, message, supply
from tracker.harvest.grammar import children, code, text, unwrap
from tracker.harvest.names import Meaning
from tracker.harvest.parts import Arguments, Texts, bind, has_text, is_sentence, matched, render
from tracker.harvest.parts import foreign as foreign_parts
from tracker.harvest.texts import DEEPEST, arguments, foreign, signature, texts
from tracker.model import Form


@dataclass(frozen=True, slots=True, kw_only=True)
class Raised:
    """One exception that a `raise` can throw. Picklable: what another file has to say is in its parts."""

    exception: str
    form: Form
    own: Texts = ()
    """Of the argument that carries the text."""
    supplied: Texts = ()
    """What the class or the factory makes of the call."""
    argued: bool = False
    """Whether there is any argument."""

    @property
    def texts(self) -> Texts:
        """Those with literal text."""
        own = tuple(filter(has_text, self.own))
        if not self.supplied:
            return own
        supplied = tuple(filter(has_text, self.supplied))
        # What a class adds behind a sentence that it is given (`See https://...`) is not what tells the error.
        framed = bool(own and supplied) and is_sentence(own[0]) and render(supplied[0]).startswith(render(own[0]))
        return own if framed or not supplied else supplied

    @property
    def is_open(self) -> bool:
        """Whether another file has a say in the text."""
        return any(True for _ in foreign_parts((*self.own, *self.supplied)))

    @property
    def shown(self) -> Form:
        """How the text is written."""
        return self.form if self.texts == tuple(filter(has_text, self.own)) else Form.CALL

    def filled(self, function: int, values: dict[str, Texts]) -> Raised:
        """The same with the parameters of a function filled."""
        return replace(self, own=bind(self.own, function, values), supplied=bind(self.supplied, function, values))


_BUILT_ON = ("with_traceback", "add_note")


def raised(node: Node, frame: Frame) -> tuple[Raised, ...]:
    """What a raised expression can be, in source order; never empty."""
    node, file = unwrap(node), frame.file
    key = "raised", node.id, frame.block.owner.id, frame.index
    if key not in file.known:
        if key in file.active or len(file.active) >= DEEPEST:
            return (Raised(exception=code(node), form=Form.NONE),)
        file.active[key] = None
        file.known[key] = tuple(dict.fromkeys(_raised(node, frame)))
        del file.active[key]
    found: tuple[Raised, ...] = file.known[key]
    return found


def _raised(node: Node, frame: Frame) -> Iterable[Raised]:
    if node.type == "conditional_expression":
        branches = children(node)
        return [*raised(branches[0], frame), *raised(branches[-1], frame)]
    if node.type == "expression_list":
        return raised(node.named_children[0], frame)
    if node.type == "call":
        return _call(node, frame)
    found: list[Raised] = []
    for meaning in callee(node, frame):
        if meaning.kind == "value" and meaning.node.type != "none":
            made = [replace(one, form=_through_name(one)) for one in raised(meaning.node, meaning.frame)]
            found += [one for one in made if one.texts or node.type == "identifier"]
        elif meaning.kind in ("opaque", "parameter") and node.type == "identifier":
            found.append(Raised(exception=code(node), form=Form.RERAISE))
        elif meaning.node.type == "class_definition":
            template = supply(meaning)
            supplied = filled(template, Arguments((), ())) if template is not None else ()
            found.append(Raised(exception=code(node), form=Form.NONE, supplied=supplied))
        elif meaning.kind == "import":
            supplied = ((foreign(meaning, code(node)),),)
            found.append(Raised(exception=named(node, meaning), form=Form.NONE, supplied=supplied))
    return found or [Raised(exception=code(node), form=Form.NONE)]


def _through_name(one: Raised) -> Form:
    return Form.VARIABLE if one.argued or one.form is Form.NONE else one.form


def _call(call: Node, frame: Frame) -> Iterable[Raised]:
    function = call.child_by_field_name("function")
    if function is None:
        return [Raised(exception=code(call), form=Form.NONE)]
    method = method_of(call)
    if method is not None and method[1] in _BUILT_ON:
        return raised(method[0], frame)
    exception = code(function)
    supplied: Texts = ()
    for meaning in callee(function, frame):
        if meaning.node.type == "function_definition":
            values = matched(signature(meaning), arguments(call, frame))
            made = [one for value, where in returned(meaning) for one in raised(value, where)]
            if made:
                return [replace(one, form=Form.CALL).filled(meaning.node.start_byte, values) for one in made]
        elif meaning.node.type == "class_definition" and (template := supply(meaning)) is not None:
            supplied = filled(template, arguments(call, frame))
        elif meaning.kind == "import":
            exception = named(function, meaning)
            supplied = ((foreign(meaning, code(call), arguments(call, frame)),),)
    argument, own = message(call, frame)
    form = _form(argument) if argument is not None else Form.NONE
    return [Raised(exception=exception, form=form, own=own, supplied=supplied, argued=argument is not None)]


def named(node: Node, imported: Meaning) -> str:
    """The exception as written, an import alias taken back."""
    return imported_from(imported.node, imported.frame.file.path)[1] if node.type == "identifier" else code(node)


def read(node: Node, frame: Frame) -> tuple[Form, Texts]:
    """An expression as a message: how it is written, and its texts."""
    return _form(node), tuple(filter(has_text, texts(node, frame)))


def _form(node: Node) -> Form:
    """How a message is written, by the outermost thing that makes it."""
    node = unwrap(node)
    if node.type == "string":
        return Form.FSTRING if any(child.type == "interpolation" for child in node.children) else Form.LITERAL
    if node.type == "concatenated_string":
        return Form.FSTRING if any(_form(child) is Form.FSTRING for child in children(node)) else Form.LITERAL
    if node.type == "binary_operator":
        operator = node.child_by_field_name("operator")
        return Form.PERCENT if operator is not None and operator.type == "%" else Form.CONCAT
    if node.type == "conditional_expression":
        return _form(children(node)[0])
    if node.type == "call":
        function = node.child_by_field_name("function")
        name = function.child_by_field_name("attribute") if function is not None else None
        return Form.FORMAT if name is not None and text(name) == "format" else Form.CALL
    return Form.VARIABLE
