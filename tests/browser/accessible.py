"""axe over the page as it stands, light and dark; the contrast of text by few elements of each look, whichever pages
they are on."""

from collections import Counter, defaultdict

from axe_playwright_python.base import AXE_FILE_PATH
from django.conf import settings

SERVED = ("axe", AXE_FILE_PATH.parent)
"""What the live server is to serve beside the site's own static files: a script that the browser keeps and need not be
handed, with its half megabyte, for each page."""
CONTRAST = "color-contrast"
ASKED = "data-asked"
"""The attribute of elements whose contrast is asked for."""
VIOLATIONS = {"resultTypes": ["violations"], "preload": False}
"""What passes is not told apart, and style sheets are not fetched again: they are the site's own."""
IN_DARK = {"runOnly": ["link-in-text-block", CONTRAST]}
"""The page is the same as in light but for its colours."""
OF_A_LOOK = 3
"""So many elements of one look are asked about, over all pages."""
ASKED_ABOUT: defaultdict[str, Counter[str]] = defaultdict(Counter)
"""How many elements of each look were found to stand out, by the scheme of colours."""

LOAD = """([address, contrast, asked]) => window.axe ? true : new Promise((done, failed) => {
  const script = document.createElement('script');
  script.src = address;
  script.onload = () => {
    script.remove();
    // What a rule finds is as serious as its rule: the others could fail no page.
    const slight = axe._audit.rules.filter((rule) => ['minor', 'moderate'].includes(rule.impact));
    const off = slight.map(({ id }) => ({ id, enabled: false }));
    axe.configure({ rules: [{ id: contrast, selector: `[${asked}]` }, ...off] });
    done();
  };
  script.onerror = () => failed(new Error(`no ${address}`));
  document.head.append(script);
}).then(() => true)"""

RUN = """async ([options, asked, known]) => {
  const styles = new Map();
  const style = (one) => styles.get(one) ?? styles.set(one, getComputedStyle(one)).get(one);
  const transparent = (colour) => /^rgba\\(.*, 0\\)$/.test(colour);

  // All that the contrast of an element's text depends on: its own look, and what is painted behind it; of a link
  // also what tells it from the text around it.
  const look = (one) => {
    const own = style(one);
    const disabled = Boolean(one.closest(':disabled, [aria-disabled=true]') ?? one.closest('label')?.control?.disabled);
    const parts = [own.color, own.fontSize, own.fontWeight, own.textShadow, disabled];
    if (one.matches('a[href]')) {
      const around = style(one.parentElement);
      parts.push('link', own.textDecorationLine, own.fontStyle, own.borderBottom, around.color, around.fontWeight, around.fontStyle);
    }
    for (let at = one; at; at = at.parentElement) {
      const { backgroundColor, backgroundImage, opacity, position, filter, mixBlendMode } = style(at);
      if (!transparent(backgroundColor)) parts.push(backgroundColor);
      parts.push(...[backgroundImage, filter].filter((value) => value !== 'none'), ...[opacity].filter((value) => value !== '1'));
      parts.push(...[position].filter((value) => value !== 'static' && value !== 'relative'), ...[mixBlendMode].filter((value) => value !== 'normal'));
    }
    return parts.join(' ');
  };

  const shows = (one) => {
    // a single letter is none to axe
    const written = [...one.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.data.trim().length > 1);
    if (!written && !one.matches('input, select, textarea')) return false;
    const { width, height } = one.getBoundingClientRect();
    return width > 1 && height > 1 && one.checkVisibility({ opacityProperty: true, visibilityProperty: true });
  };

  const seen = new Map(Object.entries(known.counts)), looks = [];
  const chosen = [...document.body.querySelectorAll('*')].filter((one) => {
    if (!shows(one)) return false;
    const key = look(one), count = seen.get(key) ?? 0;
    if (count >= known.enough) return false;
    seen.set(key, count + 1);
    looks.push(key);
    return true;
  });
  if (options.runOnly && !chosen.length) return { violations: [], looks };
  for (const one of chosen) one.setAttribute(asked, '');
  const { violations } = await axe.run(options);
  for (const one of chosen) one.removeAttribute(asked);
  return { violations: violations.filter(({ impact }) => ['serious', 'critical'].includes(impact)), looks };
}"""  # noqa: E501


def assert_accessible(page) -> None:
    """Assert that axe finds no serious or critical violation.

    Whether text stands out is nearly all of axe's work, and the same for each element of the same look: it is asked of
    three of them, here and on other pages together.
    """
    page.evaluate(LOAD, [f"{settings.STATIC_URL}{SERVED[0]}/{AXE_FILE_PATH.name}", CONTRAST, ASKED])
    for scheme, rules in (("light", {}), ("dark", IN_DARK)):
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        known = {"counts": ASKED_ABOUT[scheme], "enough": OF_A_LOOK}
        answer = page.evaluate(RUN, [VIOLATIONS | rules, ASKED, known])
        nodes = [(one["id"], node) for one in answer["violations"] for node in one["nodes"]]
        found = [f"{name}: {node['html'][:160]} {node['failureSummary']}" for name, node in nodes]
        assert found == [], f"{page.url} in {scheme}: {found}"
        ASKED_ABOUT[scheme].update(answer["looks"])
    page.emulate_media(color_scheme="light", reduced_motion="reduce")
