"""axe over the page as it stands, light and dark; the contrast of text by one element of each look."""

from __future__ import annotations

from axe_playwright_python.sync_playwright import Axe

SERIOUS = {"serious", "critical"}
VIOLATIONS = {"resultTypes": ["violations"], "preload": False}
"""What passes is not told apart, and style sheets are not fetched again: they are the site's own."""
CONTRAST = "color-contrast"
IN_DARK = {"runOnly": ["link-in-text-block"]}
"""The page is the same as in light but for its colours."""

RUN = """async ([options, contrast]) => {
  const styles = new Map();
  const style = (one) => styles.get(one) ?? styles.set(one, getComputedStyle(one)).get(one);
  const transparent = (colour) => /^rgba\\(.*, 0\\)$/.test(colour);

  // All that the contrast of an element's text depends on: its own look, and what is painted behind it.
  const look = (one) => {
    const own = style(one);
    const disabled = Boolean(one.closest(':disabled, [aria-disabled=true]') ?? one.closest('label')?.control?.disabled);
    const parts = [own.color, own.fontSize, own.fontWeight, own.textShadow, disabled];
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

  const seen = new Map();
  const chosen = [...document.body.querySelectorAll('*')].filter((one) => {
    if (!shows(one)) return false;
    const key = look(one);
    seen.set(key, (seen.get(key) ?? 0) + 1);
    return seen.get(key) <= 3;
  });
  const found = await axe.run(options);
  const pale = chosen.length ? await axe.run({ include: chosen }, contrast) : { violations: [] };
  return [...found.violations, ...pale.violations];
}"""  # noqa: E501


def assert_accessible(page) -> None:
    """Assert that axe finds no serious or critical violation.

    Whether text stands out is nearly all of axe's work, and the same for each element of the same look: it is asked of
    three of them.
    """
    page.evaluate(Axe().axe_script)
    for scheme, rules in (("light", {"rules": {CONTRAST: {"enabled": False}}}), ("dark", IN_DARK)):
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        told = page.evaluate(RUN, [VIOLATIONS | rules, VIOLATIONS | {"runOnly": [CONTRAST]}])
        nodes = [(one["id"], node) for one in told if one["impact"] in SERIOUS for node in one["nodes"]]
        found = [f"{name}: {node['html'][:160]} {node['failureSummary']}" for name, node in nodes]
        assert found == [], f"{page.url} in {scheme}: {found}"
    page.emulate_media(color_scheme="light", reduced_motion="reduce")
