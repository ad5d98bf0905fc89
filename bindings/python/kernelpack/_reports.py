"""Plans and explanations, as text, as data, and as HTML in notebooks."""

from __future__ import annotations

import functools
import html
import json
import typing


class _Report:
    def __init__(self, text: str, document: str) -> None:
        self._text = text
        self._document = document

    @functools.cached_property
    def data(self) -> dict[str, typing.Any]:
        """All of it as dicts and lists; the fields are those of the program's --json."""
        return typing.cast("dict[str, typing.Any]", json.loads(self._document))

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return self._text


def _table(head: typing.Sequence[str], rows: typing.Iterable[typing.Sequence[object]]) -> str:
    def row(cells: typing.Sequence[object], tag: str) -> str:
        return "<tr>" + "".join(
            f'<{tag} style="text-align:left">{html.escape(str(cell))}</{tag}>' for cell in cells) + "</tr>"
    return "<table>" + row(head, "th") + "".join(row(cells, "td") for cells in rows) + "</table>"


def _passes(plan: dict[str, typing.Any]) -> str:
    parts = [_table(["pass", "workgroups", "bindings"],
                    [(each["id"], " x ".join(str(n) for n in each["dispatch"]),
                      ", ".join(binding["name"] for binding in each["bindings"])) for each in plan["passes"]])]
    for each in plan["passes"]:
        if each.get("wgsl"):
            parts.append(f"<details><summary>{html.escape(each['id'])} (WGSL)</summary>"
                         f"<pre>{html.escape(each['wgsl'])}</pre></details>")
    return "".join(parts)


class Plan(_Report):
    """How a call runs on a GPU: the variant, its passes with bindings, workgroups and shaders."""

    @property
    def variant(self) -> str:
        """The id of the variant that was chosen."""
        return typing.cast(str, self.data["variant"])

    def _repr_html_(self) -> str:
        text = f"<p>variant <b>{html.escape(self.variant)}</b></p>" + _passes(self.data)
        if refused := self.data["rejected"]:
            text += f"<p>refused before it: {html.escape(', '.join(refused))}</p>"
        return text


class Explanation(_Report):
    """Why a call is planned as it is: every variant with its clauses, every derived value, every pass."""

    def __init__(self, text: str, text_with_shaders: str, document: str) -> None:
        super().__init__(text, document)
        self._text_with_shaders = text_with_shaders

    @property
    def variant(self) -> str | None:
        """The id of the variant that was chosen; None if the call cannot be planned."""
        plan = self.data["plan"]
        return plan["variant"] if plan else None

    @property
    def text_with_shaders(self) -> str:
        """The text, and the rendered shaders with line numbers."""
        return self._text_with_shaders

    def _repr_html_(self) -> str:
        data = self.data
        call = data["call"]
        tensors = ", ".join(f"{each['name']} {each['dtype']}{each['shape']}" for each in call["inputs"])
        text = f"<p><b>{html.escape(call['op'])}</b>({html.escape(tensors)})</p>"
        rows = []
        for variant in data["variants"]:
            rejection = variant["rejection"]
            rows.append((variant["id"], variant["outcome"], rejection["text"] if rejection else ""))
        text += _table(["variant", "outcome", "why not"], rows)
        if data["derives"]:
            text += _table(["name", "expression", "value"],
                           [(each["name"], each["expression"], each["value"]) for each in data["derives"]])
        if data["plan"]:
            text += _passes(data["plan"])
        else:
            text += f"<p>{html.escape(data['refusal']['message'])}</p>"
        return text


class Contract(typing.Dict[str, typing.Any]):
    """What a package says of its operator, as data: op, inputs, outputs, attributes, types, tunables, variants."""

    def _repr_html_(self) -> str:
        rows = []
        for side in ("inputs", "outputs", "arguments", "attributes"):
            for each in self.get(side, []):
                kind = each.get("dtype") or each.get("kind") or ""
                rows.append((side.removesuffix("s"), each["name"], kind, each.get("description", "")))
        return _table(["", "name", "dtype", "description"], rows)
