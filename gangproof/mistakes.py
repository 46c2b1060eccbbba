"""The exceptions that mean: the user can mend this. Their message is the whole answer."""

from __future__ import annotations

from model.errors import FileError, GraphTooLarge, QueryError
from model.language import SpecError
from reference.errors import InputError
from solver_placement.problem import ProblemTooLarge
from specs.loading import SpecLoadError
from specs.slicing import SliceError

USER_MISTAKES: tuple[type[Exception], ...] = (
    FileError,
    GraphTooLarge,
    InputError,
    ProblemTooLarge,
    QueryError,
    SliceError,
    SpecError,
    SpecLoadError,
)
