import json

from hypothesis import given
from hypothesis import strategies as st

from tests.support.json_layout import laid_out

_DATA = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
)


@given(_DATA, st.integers(min_value=1, max_value=60))
def test_it_is_the_same_data(data: object, width: int) -> None:
    assert json.loads(laid_out(data, width)) == data


def test_what_fits_stands_on_one_line() -> None:
    data = {"short": [1, 2], "long": {"name": "x" * 20, "other": []}}
    assert laid_out(data, 200) == json.dumps(data)
    assert (
        laid_out(data, 60)
        == f"""{{
  "short": [1, 2],
  "long": {{"name": "{"x" * 20}", "other": []}}
}}"""
    )
