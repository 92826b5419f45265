"""The value of an attribute whose members others named, such as the outputs of another project. Pure."""

from flareiac.kernel.data import Attributes, Data, Reference
from flareiac.lang.conversion import ConversionError, convert
from flareiac.lang.values import NamedValues, Value, from_data, object_value, type_of_cty
from flareiac.sdk.results import Members


def members(attributes: Attributes, described: Members) -> Value:
    """An object of the members, each of the type that is known of it."""
    values = {name: _value(data, described.types.get(name)) for name, data in attributes.items()}
    return object_value(NamedValues(values, described.lacks))


def _value(data: Data, form: Data) -> Value:
    plain = from_data(_without_references(data))
    try:
        return convert(plain, type_of_cty(form))
    except ConversionError:
        return plain


def _without_references(data: Data) -> Data:
    """Turns references into texts: an address of another project would name something else here."""
    match data:
        case Reference(address):
            return address
        case dict():
            return {name: _without_references(member) for name, member in data.items()}
        case list():
            return [_without_references(element) for element in data]
        case _:
            return data
