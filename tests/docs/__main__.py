"""Write the pages that are made: `python -m tests.docs`."""

from tests.docs.made import made

if __name__ == "__main__":
    for path, text in made().items():
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, "utf-8")
