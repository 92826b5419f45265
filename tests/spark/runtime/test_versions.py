import pytest

from flareiac_spark.runtime.versions import DEFAULT, FITS, default_packages, fit_of, misfits


@pytest.mark.parametrize("fit", FITS, ids=lambda fit: fit.spark)
def test_the_default_of_each_line_fits(fit: object) -> None:
    line = fit_of(DEFAULT.spark + ".4")
    assert line == DEFAULT
    assert misfits(DEFAULT.spark + ".4", default_packages(), DEFAULT.java[0]) == ()


@pytest.mark.parametrize(
    ("spark", "package", "java", "says"),
    [
        ("4.2.1", "org.xerial:sqlite-jdbc:3.54.1.0", 17, "Spark 4.2.1 has no fitting Iceberg runtime"),
        ("4.1.4", "org.xerial:sqlite-jdbc:3.54.1.0", 25, "does not run on Java 25"),
        (
            "4.1.4",
            "org.apache.iceberg:iceberg-spark-runtime-4.0_2.13:1.11.0",
            17,
            "is made for Spark 4.0 with Scala 2.13",
        ),
        ("4.1.4", "org.apache.iceberg:iceberg-spark-runtime-4.1_2.12:1.11.0", 17, "with Scala 2.12"),
        (
            "4.1.4",
            "org.apache.iceberg:iceberg-spark-runtime-4.1_2.13:1.9.0",
            17,
            "Iceberg 1.9.0 is not known to work",
        ),
        ("4.1.4", "org.apache.spark:spark-sql-kafka-0-10_2.12:3.5.0", 17, "Spark 4.1.4 uses Scala 2.13"),
    ],
)
def test_a_combination_that_does_not_fit_is_refused(spark: str, package: str, java: int, says: str) -> None:
    found = misfits(spark, [package], java)
    assert len(found) == 1
    assert says in found[0].detail
