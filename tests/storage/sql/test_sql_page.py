from tests.storage.sql.sql_page import PAGE, page_text


def test_the_page_has_the_views_and_questions_of_now() -> None:
    """After changing one: make map."""
    assert PAGE.read_text() == page_text()
