"""Rules for types, keys and addresses that have other names today."""

from elmo_plugin.migration.porting.config import (
    TABLES,
    Config,
    Porting,
    as_options,
    nested,
    replace_by_items,
    type_of,
)

OLD_BUCKET = "https://s3-us-west-2.amazonaws.com/allennlp/"
BUCKET = "https://allennlp.s3.amazonaws.com/"
# The encoding of tags in the files of each dataset reader.
_ENCODING_OF_FILES = {"conll2003": "IOB1", "conll2000": "BIO"}


def port_applicators(porting: Porting) -> None:
    """Replaces each list of initializers or regularizers by an object with the key `regexes`."""
    for place, part in porting.objects():
        for key in ("initializer", "regularizer"):
            pairs = part.get(key)
            if isinstance(pairs, list):
                part[key] = _applicator(pairs)
                porting.note(f"{place}.{key}", "the list is now in `regexes`")


def _applicator(pairs: list[list[Config]]) -> Config:
    """
    Returns the object for a list of pairs: a regular expression, and the initializer or regularizer
    of the parameters whose names it matches. The type `prevent` leaves these parameters unchanged.
    """
    prevented = [regex for regex, rule in pairs if type_of(rule) == "prevent"]
    regexes: list[list[Config]] = []
    for regex, rule in pairs:
        if regex in prevented:
            continue
        if rule == "normal":
            rule = {"type": "normal"}  # `write_defaults` adds the old standard deviation
        regexes.append([regex, rule])
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
        new_items = {"type": kind, "directory": vocabulary["directory_path"]}
        replace_by_items(vocabulary, "directory_path", new_items)
        porting.note("vocabulary.directory_path", f"now `directory`, with type {kind!r}")
    elif "extend" in vocabulary:
        del vocabulary["extend"]
        porting.note("vocabulary.extend", "removed: without a directory nothing is extended")
    if vocabulary.get("type") == "default":
        del vocabulary["type"]
        porting.note("vocabulary.type", "'default' is removed: it is the default")


def port_keys(porting: Porting) -> None:
    """
    Renames or removes the keys of the table, and `coding_scheme` of the readers that have it.

    A row of the table contains the old key, the new key, and the types of the objects that had the
    old key. The new key is empty if the old one was removed. The types are empty for objects of any
    type.
    """
    for place, part in porting.objects():
        for old_key, new_key, types in TABLES["keys"]:
            has_type = not types or type_of(part) in types.split()
            if old_key not in part or not has_type:
                continue
            if new_key:
                new_items = nested(new_key, part[old_key])  # a new key such as "a.b" has two levels
                replace_by_items(part, old_key, new_items)
                porting.note(f"{place}.{old_key}", f"now `{new_key}`")
            else:
                del part[old_key]
                porting.note(f"{place}.{old_key}", "removed")
        if "coding_scheme" in part and type_of(part) in _ENCODING_OF_FILES:
            _port_coding_scheme(porting, place, part)


def _port_coding_scheme(porting: Porting, place: str, reader: Config) -> None:
    """
    Ports the encoding into which a reader converts the tags of its files. AllenNLP 2 still takes
    `coding_scheme`, with a warning, so the notes are advice.
    """
    scheme = reader["coding_scheme"]
    if scheme == _ENCODING_OF_FILES[type_of(reader)]:
        del reader["coding_scheme"]
        text = "now the default"
    else:
        replace_by_items(reader, "coding_scheme", {"convert_to_coding_scheme": scheme})
        text = "now convert_to_coding_scheme"
    porting.note(f"{place}.coding_scheme", text, kind="advice")


def port_attention(porting: Porting) -> None:
    """
    Ports the functions of attention, and the names of their sizes. Attention between a vector and a
    matrix has other names than attention between two matrices. The key tells which it is: it
    contains "matrix" for the second, as in `matrix_attention`.
    """
    for place, part in porting.objects():
        is_between_matrices = "matrix" in place
        if type_of(part) == "legacy":
            _port_legacy_attention(porting, place, part)
        # The similarity function that replaced `legacy` is ported below.
        if type_of(part) == "dot_product" and "scale_output" in part and is_between_matrices:
            if part.pop("scale_output"):
                part["type"] = "old_scaled_dot_product"
            porting.note(f"{place}.scale_output", f"now the type {part['type']!r}")
        if type_of(part) == "bilinear" and "tensor_1_dim" in part:
            _port_bilinear_sizes(porting, place, part, is_between_matrices)


def _port_bilinear_sizes(
    porting: Porting, place: str, attention: Config, is_between_matrices: bool
) -> None:
    """Renames the sizes of the two vectors that a bilinear attention compares."""
    first = "vector_dim"
    second = "matrix_dim"
    if is_between_matrices:
        first = "matrix_1_dim"
        second = "matrix_2_dim"
    replace_by_items(attention, "tensor_1_dim", {first: attention["tensor_1_dim"]})
    replace_by_items(attention, "tensor_2_dim", {second: attention["tensor_2_dim"]})
    porting.note(place, f"its sizes are now `{first}` and `{second}`")


def _port_legacy_attention(porting: Porting, place: str, attention: Config) -> None:
    """Replaces an attention that only calls a similarity function by the function."""
    function = as_options(attention.get("similarity_function") or "dot_product")
    attention.clear()
    attention.update(function)
    porting.note(place, "the similarity function stands for itself, without `legacy`")


def port_types(porting: Porting) -> None:
    """Renames types and predictors."""
    for place, part in porting.objects():
        if type_of(part) in TABLES["types"]:
            _port_type(porting, place, part)
        if isinstance(part.get("predictor"), str):
            _port_predictor(porting, place, part)


def _port_type(porting: Porting, place: str, part: Config) -> None:
    """Renames the type of an object, and adds the options that make the new type the same."""
    old_type = type_of(part)
    new_options = TABLES["types"][old_type]
    for option, value in new_options.items():
        part.setdefault(option, value)
    new_type = new_options["type"]
    part["type"] = new_type
    porting.note(f"{place}.type", f"{old_type!r} is now {new_type!r}")
    if old_type == "bert_adam":
        text = "`bert_adam` clipped the gradient of each parameter to the norm 1, this one does not"
        porting.note(place, text, kind="advice")


def _port_predictor(porting: Porting, place: str, part: Config) -> None:
    """Renames a predictor. Most names only have underscores now in place of hyphens."""
    old_name = part["predictor"]
    new_name = TABLES["predictors"].get(old_name, old_name.replace("-", "_"))
    if new_name != old_name:
        part["predictor"] = new_name
        porting.note(f"{place}.predictor", f"now {new_name!r}")


def port_addresses(porting: Porting) -> None:
    """Replaces the address from which AllenNLP's files were downloaded."""
    # The paths of data are at the top level, and `objects` leaves that out.
    for place, part in [("", porting.config), *porting.objects()]:
        for key, value in part.items():
            if isinstance(value, str) and OLD_BUCKET in value:
                part[key] = value.replace(OLD_BUCKET, BUCKET)
                text = f"now below {BUCKET}, its new address"
                porting.note(f"{place}.{key}", text, kind="advice")
