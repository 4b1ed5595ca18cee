"""Rules for types, keys and addresses that have other names today."""

from elmo_plugin.migration.porting.config import TABLES, Config, Porting, nested, replace, type_of

OLD_BUCKET = "https://s3-us-west-2.amazonaws.com/allennlp/"
BUCKET = "https://allennlp.s3.amazonaws.com/"
# The encoding of tags in the files of each dataset reader.
_ENCODING_OF_FILES = {"conll2003": "IOB1", "conll2000": "BIO"}


def port_applicators(porting: Porting) -> None:
    """Makes objects of lists of initializers and regularizers."""
    for place, part in porting.objects():
        for key in ("initializer", "regularizer"):
            pairs = part.get(key)
            if isinstance(pairs, list):
                part[key] = _applicator(pairs)
                porting.note(f"{place}.{key}", "the list is now in `regexes`")


def _applicator(pairs: list[list[Config]]) -> Config:
    """Returns the object for pairs of a regular expression and an initializer or regularizer."""
    prevented = [regex for regex, kind in pairs if type_of(kind) == "prevent"]
    regexes: list[list[Config]] = []
    for regex, kind in pairs:
        if regex in prevented:
            continue  # it goes to `prevent_regexes`
        if kind == "normal":
            kind = {"type": "normal"}  # an object, so that the old standard deviation fits in
        regexes.append([regex, kind])
    applicator: Config = {"regexes": regexes}
    if prevented:
        applicator["prevent_regexes"] = prevented
    return applicator


def port_vocabulary(porting: Porting) -> None:
    """Ports the vocabulary that is read from a directory."""
    vocabulary = porting.get("vocabulary")
    if "directory_path" in vocabulary:
        kind = "from_files"
        if vocabulary.pop("extend", False):
            kind = "extend"
        new = {"type": kind, "directory": vocabulary["directory_path"]}
        replace(vocabulary, "directory_path", new)
        porting.note("vocabulary.directory_path", f"now `directory`, with type {kind!r}")
    elif "extend" in vocabulary:
        del vocabulary["extend"]
        porting.note("vocabulary.extend", "removed: without a directory nothing is extended")
    if vocabulary.get("type") == "default":
        del vocabulary["type"]
        porting.note("vocabulary.type", "'default' is removed: it is the default")


def port_keys(porting: Porting) -> None:
    """Renames the keys of the table, and `coding_scheme` of the readers that have it."""
    for place, part in porting.objects():
        for old, new, types in TABLES["keys"]:
            is_meant = not types or type_of(part) in types.split()
            if old not in part or not is_meant:
                continue
            if new:
                replace(part, old, nested(new, part[old]))
                porting.note(f"{place}.{old}", f"now `{new}`")
            else:
                del part[old]
                porting.note(f"{place}.{old}", "removed")
        if "coding_scheme" in part and type_of(part) in _ENCODING_OF_FILES:
            _port_coding_scheme(porting, place, part)


def _port_coding_scheme(porting: Porting, place: str, reader: Config) -> None:
    """Ports the encoding into which a reader converts the tags of its files."""
    scheme = reader["coding_scheme"]
    if scheme == _ENCODING_OF_FILES[type_of(reader)]:
        del reader["coding_scheme"]
        porting.note(f"{place}.coding_scheme", "now the default", "advice")
    else:
        replace(reader, "coding_scheme", {"convert_to_coding_scheme": scheme})
        porting.note(f"{place}.coding_scheme", "now convert_to_coding_scheme", "advice")


def port_attention(porting: Porting) -> None:
    """Ports the functions of attention, and the names of their sizes."""
    for place, part in porting.objects():
        is_matrix = "matrix" in place  # as at the key `matrix_attention`
        if type_of(part) == "legacy":
            _port_legacy_attention(porting, place, part)
        if type_of(part) == "dot_product" and "scale_output" in part and is_matrix:
            if part.pop("scale_output"):
                part["type"] = "old_scaled_dot_product"
            porting.note(f"{place}.scale_output", f"now the type {part['type']!r}")
        if type_of(part) == "bilinear" and "tensor_1_dim" in part:
            first = "vector_dim"
            second = "matrix_dim"
            if is_matrix:
                first = "matrix_1_dim"
                second = "matrix_2_dim"
            replace(part, "tensor_1_dim", {first: part["tensor_1_dim"]})
            replace(part, "tensor_2_dim", {second: part["tensor_2_dim"]})
            porting.note(place, f"its sizes are now `{first}` and `{second}`")


def _port_legacy_attention(porting: Porting, place: str, attention: Config) -> None:
    """Puts the similarity function of an attention in the place of the attention."""
    function = attention.get("similarity_function", "dot_product")
    if isinstance(function, str):
        function = {"type": function}
    if not isinstance(function, dict):
        return  # no valid configuration: AllenNLP will name the mistake
    attention.clear()
    attention.update(function)
    porting.note(place, "the similarity function stands for itself, without `legacy`")


def port_types(porting: Porting) -> None:
    """Renames types and predictors."""
    for place, part in porting.objects():
        kind = type_of(part)
        if kind in TABLES["types"]:
            new = TABLES["types"][kind]
            for option, value in new.items():
                part.setdefault(option, value)
            part["type"] = new["type"]
            porting.note(f"{place}.type", f"{kind!r} is now {new['type']!r}")
        if kind == "bert_adam":
            text = (
                "`bert_adam` clipped the gradient of each parameter to the norm 1, this one does "
                "not"
            )
            porting.note(place, text, "advice")
        predictor = part.get("predictor")
        if isinstance(predictor, str):
            new_predictor = TABLES["predictors"].get(predictor, predictor.replace("-", "_"))
            if new_predictor != predictor:
                part["predictor"] = new_predictor
                porting.note(f"{place}.predictor", f"now {new_predictor!r}")


def port_addresses(porting: Porting) -> None:
    """Replaces the address from which AllenNLP's files were downloaded."""
    # The paths of data are at the top, outside all objects.
    for place, part in [("", porting.config), *porting.objects()]:
        for key, value in part.items():
            if isinstance(value, str) and OLD_BUCKET in value:
                part[key] = value.replace(OLD_BUCKET, BUCKET)
                text = f"now below {BUCKET}, its new address"
                porting.note(f"{place}.{key}", text, "advice")
