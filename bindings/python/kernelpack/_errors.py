"""The exceptions, one class a kind of error of the library."""

from __future__ import annotations


class Error(Exception):
    """Whatever goes wrong in kernelpack; a subclass for each kind. str() is one line, "KIND: message (where)"."""

    kind: str = ""
    """Such as 'contract'."""
    message: str
    """One sentence."""
    where: str
    """The place: a file with JSON pointer, line and column, or an input, an attribute, a path; may be empty."""
    excerpt: str
    """The offending source line and a caret line below it, or ''."""
    context: list[str]
    """"While ..." lines, innermost first."""

    def __init__(self, line: str, message: str = "", where: str = "", excerpt: str = "",
                 context: list[str] | None = None, report: str = "") -> None:
        super().__init__(line)
        self.message = message or line
        self.where = where
        self.excerpt = excerpt
        self.context = context or []
        self._report = report or line

    def report(self) -> str:
        """The line, then excerpt and context, one item a line."""
        return self._report


class PackageError(Error):
    """Bad JSON, metadata or manifest of a package."""

    kind = "package"


class IntegrityError(Error):
    """A file of a package differs from its digest, or has a name that is not allowed."""

    kind = "integrity"


class TrustError(Error):
    """The publisher of a package is not trusted by default."""

    kind = "trust"


class ExpressionError(Error):
    """An expression of a manifest does not parse or cannot be evaluated."""

    kind = "expression"


class TemplateError(Error):
    """A template does not parse or cannot be rendered."""

    kind = "template"


class ContractError(Error, ValueError):
    """The inputs, dtypes, attributes, shapes or memory of a request do not fit."""

    kind = "contract"


class NoVariantError(Error):
    """No variant of the package accepts the request on the device."""

    kind = "no_variant"
    reasons: list[tuple[str, str, str]]
    """Variant, kind of reason and a sentence, for each variant in the order of trial."""


class LimitError(Error):
    """A dispatch, a buffer or a budget for untrusted input is exceeded."""

    kind = "limit"


class DeviceError(Error):
    """A device or its library is missing, lost, or refuses a request."""

    kind = "device"


class ShaderError(Error):
    """A rendered shader does not compile."""

    kind = "shader"


class IoError(Error, OSError):
    """A file or the network cannot be read or written."""

    kind = "io"


class UnsupportedError(Error):
    """kernelpack does not implement what is asked for."""

    kind = "unsupported"


class InternalError(Error):
    """A fault of kernelpack itself."""

    kind = "internal"


_KINDS: dict[str, type[Error]] = {kind.kind: kind for kind in Error.__subclasses__()}


def make(kind: str, line: str, message: str, where: str, excerpt: str, context: list[str], report: str,
         reasons: list[tuple[str, str, str]]) -> Error:
    """The exception for an error of the library; called by it."""
    error = _KINDS.get(kind, Error)(line, message, where, excerpt, context, report)
    if isinstance(error, NoVariantError):
        error.reasons = reasons
    return error
