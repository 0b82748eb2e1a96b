# SPDX-License-Identifier: Apache-2.0
"""The report as a reader has it: made from committed rows, opened in Chromium, clicked, printed,
without scripts."""
import html.parser
import json
import os
import pathlib
import re
import sys
import tempfile
import unittest
import xml.etree.ElementTree

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import chromium
from command_line import VIRTUAL, Folder, ladder

SOURCE, PICTURES = pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
ROWS = [str(SOURCE / "results/h200" / f"{name}.json")
        for name in ("climb-4096", "sizes-ieee", "sizes-split", "sizes-bf16", "sizes-fp16")]
FOLDER = tempfile.TemporaryDirectory()
VOID = {"meta", "link", "input", "br", "hr", "img"}


def path(name):
    return os.path.join(FOLDER.name, name)


# Of the kernels beyond r13, one per precision: their pages are alike, and analysing a kernel takes
# time.
MEASURED = {
    row["kernel"]: row
    for rows in ROWS
    for row in json.loads(pathlib.Path(rows).read_text())["rows"]
}
BEYOND = {
    row["precision"]: name
    for name, row in MEASURED.items()
    if row["place"] == "cuda" and row["role"] != "baseline" and row["precision"] in ("bf16",
                                                                                     "bf16x6")
}
KERNELS = [
    f"--kernel={name}" for name in (*(f"r{number:02}" for number in range(1, 14)), *BEYOND.values(),
                                    "cublas_ieee", "cublas_tf32", "cublas_bf16")
]
MADE = ladder("report", *ROWS, *KERNELS, "--html", path("report.html"), "--specs", path("specs"))
DRAWS = "vl-convert" not in MADE.stderr


class Document(html.parser.HTMLParser):
    """Elements with their attributes; every element that is opened must be closed in order."""

    def __init__(self, text):
        super().__init__()
        self.open, self.elements, self.wrong = [], [], []
        self.feed(text)
        self.wrong += [f"{tag} is not closed" for tag in self.open]

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.wrong.append(f"</{tag}> at {self.getpos()}")


@unittest.skipUnless(DRAWS, MADE.stderr.strip())
class Page(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        assert MADE.returncode == 0, MADE
        cls.text = pathlib.Path(path("report.html")).read_text(encoding="utf-8")
        cls.document = Document(cls.text)

    def test_is_well_formed_and_needs_nothing_else(self):
        self.assertEqual(self.document.wrong, [])
        for tag, attributes in self.document.elements:
            for name in ("src", "href", "xlink:href", "action", "data", "poster"):
                if value := attributes.get(name):
                    self.assertTrue(value.startswith(("data:", "#")), (tag, name, value[:80]))
        style = re.search(r"<style .*?</style>", self.text, re.S).group()
        self.assertNotRegex(style, r"@import|url\(")

    def test_runs_its_own_script_and_no_other(self):
        policy = [attributes["content"] for tag, attributes in self.document.elements
                  if attributes.get("http-equiv") == "Content-Security-Policy"]
        self.assertEqual(len(policy), 1)
        self.assertIn("default-src 'none'", policy[0])
        for source, element in (("script-src", "script"), ("style-src-elem", "style")):
            nonces = [attributes["nonce"] for tag, attributes in self.document.elements
                      if tag == element and "nonce" in attributes]
            self.assertEqual(len(nonces), 1)
            self.assertRegex(nonces[0], r"^[0-9a-f]{32}$")
            self.assertIn(f"{source} 'nonce-{nonces[0]}';", policy[0])
        self.assertEqual([
            attributes.get("type") for tag, attributes in self.document.elements if tag == "script"
        ], ["application/json", None])
        for _, attributes in self.document.elements:
            self.assertEqual([name for name in attributes if name.startswith("on")], [])

    def test_has_every_part(self):
        ids = {attributes["id"] for _, attributes in self.document.elements if "id" in attributes}
        self.assertLessEqual(
            {
                "climb", "sizes", "roofline", "accuracy", "occupancy", "samples", "rungs",
                "compare", "rows", "environment"
            }, ids)
        self.assertEqual(len(ids),
                         len([1 for _, attributes in self.document.elements if "id" in attributes]))
        for rung in ("r01_naive", "r05_block_tile_2d", "r10_warp_tile"):
            self.assertIn(rung, ids)
        self.assertIn("git checkout", self.text)

    def test_every_picture_says_what_it_shows(self):
        pictures = [attributes for tag, attributes in self.document.elements if tag == "svg"]
        self.assertGreater(len(pictures), 40)
        for attributes in pictures:
            self.assertGreater(len(attributes.get("aria-label", "")), 20, attributes)

    def test_charts_are_specifications_to_take_along(self):
        written = {file.name for file in pathlib.Path(path("specs")).glob("*.vl.json")}
        linked = {
            attributes["download"]
            for tag, attributes in self.document.elements
            if "download" in attributes
        }
        self.assertEqual(written, linked)
        climb = json.loads(pathlib.Path(path("specs/climb.vl.json")).read_text())
        self.assertIn("vega-lite", climb["$schema"])
        for bar in climb["datasets"]["bars"]:
            self.assertIn(bar["about"].split(";")[0].replace("&", "&amp;"), self.text)

    def test_changed_specifications_are_drawn(self):
        with tempfile.TemporaryDirectory() as folder:
            spec = json.loads(pathlib.Path(path("specs/climb.vl.json")).read_text())
            spec["title"]["text"] = "A title of my own"
            pathlib.Path(folder, "climb.vl.json").write_text(json.dumps(spec))
            result = ladder("report", ROWS[0], "--with", folder, "--svg",
                            os.path.join(folder, "climb.svg"))
            self.assertEqual(result.returncode, 0, result)
            self.assertIn("A title of my own", pathlib.Path(folder, "climb.svg").read_text())
            pathlib.Path(folder, "climb.vl.json").write_text("{}")
            result = ladder("report", ROWS[0], "--with", folder, "--svg",
                            os.path.join(folder, "climb.svg"))
            self.assertEqual(result.returncode, 2, result)
            self.assertIn("vl-convert", result.stderr)
            pathlib.Path(folder, "climb.vl.json").write_text("[" * 100_000 + "]" * 100_000)
            result = ladder("report", ROWS[0], "--with", folder, "--svg",
                            os.path.join(folder, "climb.svg"))
            self.assertEqual((result.returncode, result.stderr.count("\n")), (2, 1),
                             result.stderr[:400])
            self.assertNotIn("Traceback", result.stderr)

    def test_modules_come_from_python_alone(self):
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(
                folder,
                "vl_convert.py").write_text(f"open({os.path.join(folder, 'executed')!r}, 'w')")
            result = ladder(
                "report", ROWS[0], "--svg", os.path.join(folder, "climb.svg"), cwd=folder, env={
                    **os.environ, "PYTHONPATH": folder,
                    "PYTHONSTARTUP": os.path.join(folder, "vl_convert.py")
                })
            self.assertEqual(result.returncode, 0, result)
            self.assertEqual(sorted(os.listdir(folder)), ["climb.svg", "vl_convert.py"])

    def test_a_python_in_the_folder_at_hand_is_not_started(self):
        with tempfile.TemporaryDirectory() as folder:
            program = pathlib.Path(folder, "python3")
            program.write_text(f"#!/bin/sh\ntouch {folder}/executed\n")
            program.chmod(0o755)
            ladder(
                "report", ROWS[0], "--svg", os.path.join(folder, "climb.svg"), cwd=folder,
                env={**os.environ, "PATH": f":.:{os.environ['PATH']}", "LADDER_PYTHON": "python3"})
            self.assertNotIn("executed", os.listdir(folder))

    @unittest.skipUnless(VIRTUAL, "no virtual GPU")
    def test_what_was_only_counted_has_predictions(self):
        result = ladder("climb", "r01", "r05", "--device", "virtual:h200", "--shape", "64",
                        "--json", path("counted.json"))
        self.assertEqual(result.returncode, 0, result)
        result = ladder("report", path("counted.json"), "--html", path("counted.html"))
        self.assertEqual(result.returncode, 0, result)
        text = pathlib.Path(path("counted.html")).read_text()
        self.assertEqual(Document(text).wrong, [])
        self.assertIn("Nothing was timed", text)
        self.assertIn("rung, predicted", text)


class BadInput(Folder):
    def rejected(self, *arguments, says, **keywords):
        super().rejected("report", *arguments, says=says, **keywords)

    def test_names_the_argument_and_the_rule(self):
        self.rejected(ROWS[0], "--html", "/no/such/folder/x.html",
                      says=["--html", "/no/such/folder"])
        self.rejected(ROWS[0], "--specs", path("no/folder"), says=["--specs", "No such file"])
        rows = self.write("rows.json", pathlib.Path(ROWS[0]).read_text())
        for option in ("--html", "--svg"):
            self.rejected(ROWS[0], rows, option, rows, says=[option, "one of the files to read"])
        self.rejected(ROWS[0], "--with", FOLDER.name, says=["--with", "--html"])
        self.rejected(ROWS[0], "--svg", path("x.svg"), "--chart", "nonsense",
                      says=["--chart", "nonsense", "climb"])
        self.rejected(ROWS[0], "--chart", "climb", says=["--chart requires --svg"])
        self.rejected(ROWS[0], "--html", path("x.html"),
                      says=["--html", "vl-convert",
                            "scripts/setup"], env={**os.environ, "LADDER_PYTHON": "no-such-python"})
        empty = self.write("empty.json",
                           {**json.loads(pathlib.Path(ROWS[0]).read_text()), "rows": []})
        self.rejected(empty, "--html", path("x.html"), says=["nothing to show"])


# Kernel names that a rows file of unknown origin may contain.
HOSTILE = [
    "<!--<script>", "</script><script>document.title='taken'</script>",
    "<img src=x onerror=document.title='taken'>", "\x1b[2J\x9b31m|\\", "'; touch taken; '",
    "=cmd|' /C calc'!A0", "__proto__", "\u202eevil"
]


def hostile_rows():
    document = json.loads(pathlib.Path(ROWS[0]).read_text())
    rows = [row for row in document["rows"]
            if row["timing"] and row["place"] == "cuda"][:len(HOSTILE)]
    for row, name in zip(rows, HOSTILE, strict=True):
        row.update(kernel=name, rung=name, idea=name, note=name, role="rung", precision="ieee")
    document["environment"]["commit"] = "$(touch taken)"
    with open(path("hostile.json"), "w") as file:
        json.dump({**document, "rows": rows}, file)
    return path("hostile.json")


@unittest.skipUnless(DRAWS, "nothing was drawn")
class Hostile(unittest.TestCase):
    def test_names_are_words_everywhere(self):
        result = ladder("report", hostile_rows(), "--html", path("hostile.html"), "--svg",
                        path("hostile.svg"), "--text")
        self.assertEqual(result.returncode, 0, result)
        markdown = ladder("report", path("hostile.json"))
        self.assertEqual(markdown.returncode, 0, markdown)
        for text in (result.stdout, markdown.stdout, pathlib.Path(path("hostile.html")).read_text(),
                     pathlib.Path(path("hostile.svg")).read_text()):
            self.assertNotRegex(text, r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]")
            self.assertIn("\\x1b[2J" if text is not markdown.stdout else "\\\\x1b\\[2J", text)
        self.assertNotRegex(markdown.stdout, r"<|(?<!\\)`")
        lines = [line for line in markdown.stdout.splitlines() if line.startswith("|")]
        self.assertEqual(len({len(re.findall(r"(?<!\\)(?:\\\\)*\|", line))
                              for line in lines}), 1, lines)
        xml.etree.ElementTree.parse(path("hostile.svg"))
        page = Document(pathlib.Path(path("hostile.html")).read_text())
        self.assertEqual(page.wrong, [])
        self.assertEqual([tag for tag, _ in page.elements].count("script"), 2)
        self.assertEqual([tag for tag, _ in page.elements].count("img"), 0)

    @unittest.skipUnless(chromium.find(), "chromium is not installed (scripts/setup installs it)")
    def test_the_page_works_all_the_same(self):
        ladder("report", hostile_rows(), "--html", path("hostile.html"))
        with chromium.Browser() as browser:
            browser.open(path("hostile.html"))
            self.assertNotIn("taken", browser.evaluate("document.title"))
            self.assertFalse(browser.evaluate("document.getElementById('theme').hidden"))
            shown = browser.evaluate(
                "[...document.querySelectorAll('table.sortable tbody td:first-child')].map((c) => c.textContent)"
            )
            self.assertIn("<!--<script>", shown)
            browser.click("#theme")
            self.assertIn(browser.evaluate("document.documentElement.dataset.theme"),
                          ("light", "dark"))
            self.assertEqual(browser.problems(), [])
            # Markup that would be active if it were not escaped.
            browser.evaluate(
                """const image = "<img src=x onerror=\\"document.title='taken'\\">";
                document.body.insertAdjacentHTML("beforeend", image);
                const script = document.createElement("script");
                script.textContent = "document.title='taken'";
                document.body.append(script);
                new Promise((done) => setTimeout(done, 100))""")
            self.assertNotIn("taken", browser.evaluate("document.title"))


CONTRAST = """(() => {
    const light = (color) => {
        const [r, g, b] = color.match(/[\\d.]+/g).map((part) => part / 255)
            .map((part) => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const ground = light(getComputedStyle(document.body).backgroundColor);
    return [...document.querySelectorAll("svg text:not(.lane), p, td, th, h2, a")].map((element) => {
        const style = getComputedStyle(element);
        const ink = light(element instanceof SVGElement ? style.fill : style.color);
        return [(Math.max(ink, ground) + 0.05) / (Math.min(ink, ground) + 0.05), element.textContent.slice(0, 40)];
    }).sort((a, b) => a[0] - b[0])[0];
})()"""


@unittest.skipUnless(DRAWS, "nothing was drawn")
@unittest.skipUnless(chromium.find(), "chromium is not installed (scripts/setup installs it)")
class InChromium(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.browser = chromium.Browser()
        PICTURES.mkdir(parents=True, exist_ok=True)

    @classmethod
    def tearDownClass(cls):
        cls.browser.__exit__()

    def open(self, scheme="light", media="screen", scripts=True):
        self.browser.send("Emulation.setScriptExecutionDisabled", value=not scripts)
        self.browser.media(media, scheme)
        self.browser.open(path("report.html"))

    def column(self, title):
        return self.browser.evaluate(f"""(() => {{
            const table = document.querySelector("table.sortable");
            const at = [...table.tHead.rows[0].cells].findIndex((cell) => cell.textContent.startsWith({json.dumps(title)}));
            return [...table.tBodies[0].rows].map((row) => row.cells[at].textContent);
        }})()""")

    def tearDown(self):
        self.assertEqual(self.browser.problems(), [])

    def test_sorts_by_clicks(self):
        self.open()
        at = self.browser.evaluate("""[...document.querySelectorAll("table.sortable th")]
            .findIndex((cell) => cell.textContent.startsWith("TFLOP/s")) + 1""")
        before = self.column("kernel")
        self.browser.click(f"table.sortable th:nth-child({at}) button")
        rates = [float(text) for text in self.column("TFLOP/s") if text != "-"]
        self.assertEqual(rates, sorted(rates, reverse=True))
        self.browser.click(f"table.sortable th:nth-child({at}) button")
        rates = [float(text) for text in self.column("TFLOP/s") if text != "-"]
        self.assertEqual(rates, sorted(rates))
        self.assertCountEqual(self.column("kernel"), before)

    def test_filters_rows(self):
        self.open()
        self.browser.click("#filter")
        self.browser.send("Input.insertText", text="r05")
        shown = self.browser.evaluate("""[...document.querySelectorAll("table.sortable tbody tr")]
            .filter((row) => row.offsetParent).map((row) => row.dataset.kernel)""")
        self.assertEqual(set(shown), {"r05_block_tile_2d"})

    def test_compares_two_kernels(self):
        self.open()
        said = []
        for first, second in (("r01_naive", "r02_coalesced"), ("r06_vectorized", "r07_swizzled")):
            self.browser.evaluate(
                f"""for (const [id, kernel] of [["first", "{first}"], ["second", "{second}"]]) {{
                document.getElementById(id).value = kernel;
                document.getElementById(id).dispatchEvent(new Event("change"));
            }}""")
            titles = self.browser.evaluate(
                """[...document.querySelectorAll("#pair thead th")].map((c) => c.textContent)""")
            self.assertEqual(titles[1:], [first, second])
            said.append(self.browser.evaluate("""document.getElementById("why").textContent"""))
            self.assertIn(second, said[-1])
        self.assertNotEqual(*said)

    def test_shows_one_rung(self):
        self.open()
        self.browser.evaluate("""(() => { const rung = document.getElementById("rung");
            rung.value = "r05_block_tile_2d"; rung.dispatchEvent(new Event("change")); })()""")
        visible = """[...document.querySelectorAll(".rung")].filter((r) => r.offsetParent).map((r) => r.id)"""
        self.assertEqual(self.browser.evaluate(visible), ["r05_block_tile_2d"])
        self.browser.evaluate("location.hash = '#r04_block_tile_1d'")  # a link shows its target
        self.browser.evaluate("new Promise((done) => requestAnimationFrame(done))")
        self.assertEqual(self.browser.evaluate(visible), ["r04_block_tile_1d"])
        # A picture that is drawn once is visible wherever it is referred to, also if the rung that
        # has it is hidden.
        references = """[...document.querySelectorAll(".rung svg use")].map((use) => [use.closest(".rung").id,
            document.querySelector(use.getAttribute("href")).closest(".rung").id])"""
        user, owner = next(pair for pair in self.browser.evaluate(references) if pair[0] != pair[1])
        self.browser.evaluate(f"location.hash = '#{user}'")
        self.browser.evaluate("new Promise((done) => requestAnimationFrame(done))")
        self.assertNotIn(owner, self.browser.evaluate(visible))
        self.assertGreater(
            self.browser.evaluate(f"""[...document.querySelectorAll("#{user} svg use")]
            .find((use) => !use.closest(".rung").contains(document.querySelector(use.getAttribute("href"))))
            .getBoundingClientRect().width"""), 100)
        self.browser.media("print")  # all of them on paper
        shown = self.browser.evaluate(
            """[...document.querySelectorAll(".rung")].filter((r) => r.offsetParent).length""")
        self.assertGreater(shown, 9)

    def test_marks_say_what_they_are(self):
        self.open()
        self.browser.evaluate(
            """document.querySelector("#climb svg [aria-label^='r05']").focus()""")
        self.assertIn("r05_block_tile_2d",
                      self.browser.evaluate("""document.getElementById("tip").textContent"""))
        self.assertFalse(self.browser.evaluate("""document.getElementById("tip").hidden"""))

    def test_light_and_dark_by_click_and_by_system(self):
        ground = "getComputedStyle(document.body).backgroundColor"
        for scheme in ("light", "dark"):
            self.open(scheme)
            own = self.browser.evaluate(ground)
            self.browser.picture(PICTURES / f"{scheme}.png")
            self.assertGreaterEqual(
                self.browser.evaluate(CONTRAST)[0], 4.5,
                self.browser.evaluate(CONTRAST))  # WCAG 2.1, 1.4.3
            self.browser.click("#theme")
            other = self.browser.evaluate(ground)
            self.assertNotEqual(own, other)
            self.assertGreaterEqual(
                self.browser.evaluate(CONTRAST)[0], 4.5, self.browser.evaluate(CONTRAST))
            self.browser.click("#theme")
            self.assertEqual(self.browser.evaluate(ground), own)

    def test_fits_a_narrow_screen(self):
        self.open()
        self.browser.picture(PICTURES / "narrow.png", width=420, height=4000)
        wide, screen, cut = self.browser.evaluate(
            """[document.documentElement.scrollWidth, innerWidth,
            [...document.querySelectorAll("svg, table")].filter((element) => element.offsetParent !== null || element.closest("svg"))
                .filter((element) => element.getBoundingClientRect().right > innerWidth + 1
                                      && !element.closest(".scroll"))
                .map((element) => element.outerHTML.slice(0, 80))]""")
        self.assertLessEqual(wide, screen)
        self.assertEqual(cut, [])

    def test_prints_light_whole_and_without_controls(self):
        self.open("dark", "print")
        self.assertEqual(self.browser.evaluate("getComputedStyle(document.body).backgroundColor"),
                         "rgb(255, 255, 255)")
        self.assertEqual(
            self.browser.evaluate(
                """[...document.querySelectorAll("button:not(th button), select, input, nav")]
            .filter((element) => element.offsetParent).length"""), 0)
        self.browser.picture(PICTURES / "print.png", width=760, height=12000)

    def test_without_scripts_all_is_there(self):
        self.open(scripts=False)
        # Scripts cannot be evaluated in the page then; its layout can still be queried.
        root = self.browser.send("DOM.getDocument", depth=0)["root"]["nodeId"]

        def boxes(selector):
            nodes = self.browser.send("DOM.querySelectorAll", nodeId=root,
                                      selector=selector)["nodeIds"]
            found = 0
            for node in nodes:
                try:
                    self.browser.send("DOM.getBoxModel", nodeId=node)
                    found += 1
                except RuntimeError:
                    pass
            return found

        self.assertGreater(boxes(".rung"), 9)
        self.assertGreater(boxes("table.sortable tbody tr"), 50)
        self.assertGreater(boxes("#pair tbody tr"), 10)
        self.assertGreater(boxes("#climb svg"), 0)
        self.assertEqual(boxes(".scripted"), 0)
        self.assertEqual(boxes("#tip"), 0)
        self.browser.send("Emulation.setScriptExecutionDisabled", value=False)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[4:], verbosity=1)
