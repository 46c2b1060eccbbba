"""Users' files: ``kubectl get`` output, YuniKorn queue configuration and gang annotations, openb tables, native JSON.

``load(paths)`` reads any mix of them into a ``Cluster``. Whatever is wrong is a ``ManifestError`` with file, line,
field, what was found and what was expected; whatever is dropped or assumed is a warning.
"""

from reference.errors import InputError, InputWarning
from reference.manifests.document import ManifestError
from reference.manifests.load import LoadResult, load
from reference.manifests.native_write import to_native
from reference.manifests.notices import Place, PlaceOf

__all__ = ["InputError", "InputWarning", "LoadResult", "ManifestError", "Place", "PlaceOf", "load", "to_native"]
