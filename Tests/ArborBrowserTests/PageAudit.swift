import ArborJSON
import ArborModel
import Foundation

/// An accessibility audit of a page: names of controls, text contrast, and overflow; and the rules
/// of WCAG 2.1 AA as axe-core checks them, if `tools/prepare browser` could fetch it.
enum PageAudit {
  /// The source of axe-core, or `nil` if it wasn't fetched.
  static let axe: String? = {
    var root = URL(filePath: #filePath)
    for _ in 0..<3 { root.deleteLastPathComponent() }
    return try? String(contentsOf: root.appending(path: ".build/axe.min.js"), encoding: .utf8)
  }()

  /// Returns a list of problems.
  static func problems(in page: Chromium) throws -> [String] {
    let found = try page.evaluate("(\(script))()")
    return try (found.array?.compactMap(\.string) ?? ["\(found)"]) + problemsOfAxe(in: page)
  }

  private static func problemsOfAxe(in page: Chromium) throws -> [String] {
    guard let axe else { return [] }
    if try page.evaluate("typeof axe") != "object" { try page.evaluate("\(axe); true") }
    let found = try page.evaluate(
      """
      axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"] }).then((results) =>
        results.violations.flatMap((rule) => rule.nodes.map((node) =>
          `axe: ${rule.id}: ${node.html.slice(0, 200)}`)))
      """)
    return found.array?.compactMap(\.string) ?? ["axe: \(found)"]
  }

  private static let script = #"""
    () => {
      const problems = [];
      const seen = (element) => {
        const box = element.getBoundingClientRect();
        const style = getComputedStyle(element);
        return box.width > 0 && box.height > 0 && style.visibility !== "hidden"
          && !element.closest("[hidden], .dim, .hidden, :disabled, .skip");
      };
      const named = (element) => (element.getAttribute("aria-label") || "").trim()
        || (element.getAttribute("aria-labelledby") || "").split(" ").some((id) =>
          document.getElementById(id)?.textContent.trim())
        || [...(element.labels || [])].some((label) => label.textContent.trim())
        || element.textContent.trim() || element.alt || element.title;
      const what = (element) => element.tagName.toLowerCase()
        + `.${element.getAttribute("class") || ""} ${element.textContent.trim().slice(0, 40)}`;
      const controls = "a[href], button, input, select, textarea, [role=button], [role=grid], "
        + "[role=img], [role=dialog], dialog[open], [tabindex='0']";
      for (const element of document.querySelectorAll(controls)) {
        const isField = element.matches("input, select, textarea");
        const label = isField ? (element.getAttribute("aria-label") || "").trim()
          || [...(element.labels || [])].some((each) => each.textContent.trim()) : named(element);
        if (seen(element) && !label) problems.push(`no name: ${what(element)}`);
      }
      for (const element of document.querySelectorAll("[role=img] :is([tabindex], [role=button], button, a, input)")) {
        problems.push(`a control inside an image: ${what(element)}`);
      }
      for (const element of document.querySelectorAll("[aria-activedescendant]")) {
        const id = element.getAttribute("aria-activedescendant");
        if (id && !document.getElementById(id)) problems.push(`active descendant leads nowhere: ${id}`);
      }
      for (const image of document.images) {
        if (!image.hasAttribute("alt")) problems.push(`no alt: ${image.src}`);
      }
      const ids = [...document.querySelectorAll("[id]")].map((element) => element.id);
      for (const id of new Set(ids.filter((id, place) => ids.indexOf(id) !== place))) {
        problems.push(`id twice: ${id}`);
      }
      for (const attribute of ["aria-controls", "aria-describedby", "aria-labelledby"]) {
        for (const element of document.querySelectorAll(`[${attribute}]`)) {
          for (const id of element.getAttribute(attribute).split(" ")) {
            if (!document.getElementById(id)) problems.push(`${attribute} leads nowhere: ${id}`);
          }
        }
      }
      const channels = (text) => {
        const numbers = text.match(/[\d.]+/g).map(Number);
        const scale = text.startsWith("color(") ? 255 : 1;
        return [...numbers.slice(0, 3).map((each) => each * scale), numbers[3] ?? 1];
      };
      const over = (top, below) => [0, 1, 2].map((i) => top[i] * top[3] + below[i] * (1 - top[3]));
      const light = (color) => {
        const [r, g, b] = color.slice(0, 3).map((each) => {
          const part = each / 255;
          return part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
        });
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
      };
      const ground = (element) => {
        const layers = [];
        for (let each = element; each; each = each.parentElement) {
          const color = channels(getComputedStyle(each).backgroundColor);
          if (color[3] > 0) layers.push(color);
          if (color[3] === 1) break;
        }
        return layers.reverse().reduce((below, layer) => over(layer, below), [255, 255, 255]);
      };
      const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
      while (texts.nextNode()) {
        const element = texts.currentNode.parentElement;
        if (!texts.currentNode.data.trim() || !seen(element)) continue;
        if (element.closest("noscript, script, style, option, .mark")) continue;
        const style = getComputedStyle(element);
        const isDrawn = element instanceof SVGElement;
        if (isDrawn && style.opacity === "0") continue;
        const below = ground(isDrawn ? element.closest(".stage") || document.body : element);
        const color = over(channels(isDrawn ? style.fill : style.color), below);
        const [high, low] = [light(color), light(below)].sort((a, b) => b - a);
        const ratio = (high + 0.05) / (low + 0.05);
        const size = parseFloat(style.fontSize);
        const isLarge = size >= 24 || size >= 18.66 && Number(style.fontWeight) >= 700;
        if (ratio < (isLarge ? 3 : 4.5)) {
          problems.push(`contrast ${ratio.toFixed(2)}: ${what(element)} ${style.color}`);
        }
      }
      // Not the width of the window, which a mobile browser widens for a page that is too wide.
      const root = document.documentElement;
      for (const each of [root, ...document.querySelectorAll(".detail, .content, dialog[open]")]) {
        if (each.scrollWidth > each.clientWidth) {
          problems.push(`wider than its place: ${what(each)} ${each.scrollWidth} > ${each.clientWidth}`);
        }
      }
      if (window.shifts > 0.02) {
        const moved = [...window.moved].join(", ");
        problems.push(`moved by itself: ${window.shifts.toFixed(3)} ${moved}`);
      }
      return [...new Set(problems)];
    }
    """#
}
