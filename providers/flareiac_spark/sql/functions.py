"""Spark's functions that aggregate rows, generate rows, or are nondeterministic."""

from typing import Final

AGGREGATES: Final = frozenset(
    """any any_value approx_count_distinct approx_percentile approx_top_k approx_top_k_accumulate
    approx_top_k_combine array_agg avg bit_and bit_or bit_xor bitmap_and_agg bitmap_construct_agg
    bitmap_or_agg bool_and bool_or collect_list collect_set corr count count_if count_min_sketch
    covar_pop covar_samp every first first_value grouping grouping_id histogram_numeric
    hll_sketch_agg hll_union_agg kll_merge_agg_bigint kll_merge_agg_double kll_merge_agg_float
    kll_sketch_agg_bigint kll_sketch_agg_double kll_sketch_agg_float kurtosis last last_value
    listagg max max_by mean median min min_by mode percentile percentile_approx percentile_cont
    percentile_disc regr_avgx regr_avgy regr_count regr_intercept regr_r2 regr_slope regr_sxx
    regr_sxy regr_syy skewness some std stddev stddev_pop stddev_samp string_agg sum
    theta_intersection_agg theta_sketch_agg theta_union_agg try_avg try_sum var_pop var_samp
    variance""".split()  # noqa: SIM905 - one name a word
)
"""Spark 4.1's own (its function registry's group ``agg_funcs``)."""

GENERATORS: Final = frozenset(
    {
        "explode",
        "explode_outer",
        "inline",
        "inline_outer",
        "json_tuple",
        "posexplode",
        "posexplode_outer",
        "stack",
    }
)

UNSTABLE: Final = frozenset(
    """rand randn random randstr uniform uuid shuffle monotonically_increasing_id spark_partition_id
    input_file_name aes_encrypt input_file_block_start input_file_block_length reflect java_method
    try_reflect raise_error assert_true @random_query""".split()  # noqa: SIM905 - one name a word
)
"""Another value (or effect) at each evaluation: where they are evaluated counts."""
JOIN_HINTS: Final = frozenset(
    """broadcast broadcastjoin mapjoin merge shuffle_merge mergejoin shuffle_hash
    shuffle_replicate_nl""".split()  # noqa: SIM905 - one name a word
)
NAMING: Final = frozenset({"struct", "arrays_zip"})
"""Functions that name fields after their arguments."""
CASTS: Final = frozenset(
    {
        "bigint",
        "binary",
        "boolean",
        "date",
        "decimal",
        "double",
        "float",
        "int",
        "smallint",
        "string",
        "tinyint",
    }
)
"""Types that are functions too. ``timestamp`` is left out: which type CAST means by it the session
decides.
"""
WINDOWS: Final = frozenset({"window", "session_window"})
