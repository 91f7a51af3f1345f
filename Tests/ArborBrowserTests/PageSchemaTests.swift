import ArborData
import ArborModel
import Foundation
import Testing
import ArborBrowser

@Suite("The diagram of a schema", .serialized, .enabled(if: Chromium.executable != nil))
struct PageSchemaTests {
  /// Finds an entity by its attribute `city`, and shows only the entity and its neighbors.
  private func showNeighborsOfOffice(_ page: Chromium) throws {
    try page.press("/")
    try page.type("city")
    try page.press("Enter")
    try page.wait("document.querySelector('.detail h2')?.innerText === 'Office'")
    try page.press("n")
    try page.wait("document.querySelectorAll('.box').length === 2")
  }

  /// A model with a tree of inheritance, loops, and relationships between many entities.
  private static func makeModel() throws -> ManagedObjectModel {
    var entities = [
      EntityDescription("Node", isAbstract: true) { AttributeDescription("name", .string) }
    ]
    for number in 0..<9 {
      var entity = EntityDescription("Kind\(number)", parent: number < 4 ? "Node" : nil) {
        AttributeDescription("size", .integer32, .optional)
      }
      entity.relationships = [
        RelationshipDescription(
          "next", to: "Kind\((number + 1) % 9)", inverse: "previous", .optional),
        RelationshipDescription(
          "previous", to: "Kind\((number + 8) % 9)", inverse: "next", .optional),
      ]
      if number == 4 {
        entity.relationships += [
          RelationshipDescription("above", to: "Kind4", inverse: "below", .optional),
          RelationshipDescription("below", to: "Kind4", inverse: "above", .toMany, .optional),
        ]
      } else {
        entity.relationships.append(
          RelationshipDescription(
            "far", to: "Kind\(8 - number)", inverse: "far", .toMany, .optional))
      }
      entities.append(entity)
    }
    return ManagedObjectModel(entities: entities)
  }

  /// A script that returns how many lines run through a box or are neither horizontal nor vertical.
  private static let crossings = #"""
    (() => {
      const boxes = [...document.querySelectorAll(".box")].map((group) => {
        const [x, y] = group.getAttribute("transform").match(/-?[\d.]+/g).map(Number);
        const frame = group.querySelector(".frame");
        return { x, y, right: x + Number(frame.getAttribute("width")), bottom: y + Number(frame.getAttribute("height")) };
      });
      let count = 0;
      for (const line of document.querySelectorAll(".edge .line")) {
        const points = line.getAttribute("d").match(/-?[\d.]+/g).map(Number);
        for (let at = 2; at < points.length; at += 2) {
          const [x1, y1, x2, y2] = points.slice(at - 2, at + 2);
          if (x1 !== x2 && y1 !== y2) count++;
          if (boxes.some((box) => Math.max(x1, x2) > box.x + 1 && Math.min(x1, x2) < box.right - 1
            && Math.max(y1, y2) > box.y + 1 && Math.min(y1, y2) < box.bottom - 1)) count++;
        }
      }
      return count;
    })()
    """#

  /// A script that returns whether the parent is above each of its four children.
  private static let isTree = #"""
    (() => {
      const edges = (name) => {
        const box = [...document.querySelectorAll(".box")].find((each) => each.querySelector(".name").textContent === name);
        const top = Number(box.getAttribute("transform").match(/-?[\d.]+/g)[1]);
        return { top, bottom: top + Number(box.querySelector(".frame").getAttribute("height")) };
      };
      return [0, 1, 2, 3].every((number) => edges("Node").bottom < edges(`Kind${number}`).top);
    })()
    """#

  private static let places = """
    [...document.querySelectorAll('.box')].map((each) => `${each.querySelector('.name').textContent} ${each.getAttribute('transform')}`).sort().join()
    """

  @Test("Lines lead around the boxes")
  func linesLeadAroundBoxes() throws {
    try ServedStore.use(Self.makeModel(), fill: { _ in }) { served in
      let page = try Chromium(showing: served.browser.url)
      for width in [1280, 390] {
        try page.resize(width, 800)
        try page.evaluate("location.hash = '#/health'")
        try page.exists(".space-map")
        try page.evaluate("location.hash = '#/schema'")
        try page.exists(".box")
        #expect(try page.evaluate("document.querySelectorAll('.edge .line').length") == 18)
        #expect(try page.evaluate(Self.crossings) == 0, "\(width)")
        #expect(try page.evaluate(Self.isTree) == true, "\(width)")
        try page.picture("lines-\(width)")
      }
      #expect(page.complaints == [])
    }
  }

  @Test("The lines of two hundred boxes are all drawn, and none crosses a box")
  func manyBoxesAreConnected() throws {
    let entities = (0..<200).map { number in
      var entity = EntityDescription("Entity\(number)") {
        AttributeDescription("value", .integer64, .optional)
        AttributeDescription("name", .string, .optional)
      }
      entity.relationships = [
        RelationshipDescription("next", to: "Entity\((number + 1) % 200)", .optional)
      ]
      if number.isMultiple(of: 2) {
        entity.relationships.append(
          RelationshipDescription("far", to: "Entity\(number * 7 % 200)", .optional))
      }
      return entity
    }
    let model = ManagedObjectModel(entities: entities)
    try ServedStore.use(model, fill: { _ in }) { served in
      let page = try Chromium(width: 1400, height: 900)
      try page.open(served.browser.url)
      try page.exists(".box")
      #expect(try page.evaluate("document.querySelectorAll('.edge .line').length") == 300)
      #expect(try page.evaluate(Self.crossings) == 0)
      try page.picture("many")
    }
  }

  @Test("Boxes that touch on all sides, with no path around them, are connected nevertheless")
  func noLineIsMissingBetweenBoxesThatTouch() throws {
    try ServedStore.use(Self.makeModel(), fill: { _ in }) { served in
      let page = try Chromium(showing: served.browser.url)
      let counts = try page.evaluate(
        """
        (async () => {
          const { routeAll } = await import("./routing.js");
          const boxes = new Map();
          for (let x = 0; x < 3; x++) for (let y = 0; y < 3; y++) {
            boxes.set(`${x}${y}`, { x: x * 250, y: y * 200, width: 250, height: 200 });
          }
          const lines = ["00", "22", "11", "10"].map((to) => ({ from: "11", to, kind: "relationship", fromTop: 60, toTop: 80 }));
          return routeAll(boxes, [...lines, { from: "11", to: "12", kind: "inherits", fromTop: 24, toTop: 24 }])
            .map((route) => route === null ? 0 : route.points.length);
        })()
        """)
      #expect(counts.array?.count == 5)
      #expect(counts.array?.allSatisfy { ($0.int64 ?? 0) >= 2 } == true, "\(counts)")
    }
  }

  @Test("Boxes keep the places that they are moved to")
  func boxesAreMovedAndStay() throws {
    try ServedStore.use(Self.makeModel(), fill: { _ in }) { served in
      let page = try Chromium(showing: served.browser.url)
      let first = try page.evaluate(Self.places)
      // By keys, towards other boxes, which it does not cover.
      try page.evaluate("[...document.querySelectorAll('.box')].at(-1).focus()")
      for _ in 0..<5 { try page.press("ArrowUp", shift: true) }
      try page.press("ArrowRight", shift: true)
      let byKeys = try page.evaluate(Self.places)
      #expect(byKeys != first)
      #expect(try page.evaluate("document.activeElement.classList.contains('box')") == true)
      #expect(try page.evaluate(Self.crossings) == 0)
      // By the mouse.
      let point = try page.evaluate(
        "(() => { const box = document.querySelector('.box .band').getBoundingClientRect(); return [Math.round(box.x) + 20, Math.round(box.y) + 8]; })()"
      )
      let (x, y) = (Double(point[0]?.int64 ?? 0), Double(point[1]?.int64 ?? 0))
      try page.mouse("mousePressed", x, y)
      try page.mouse("mouseMoved", x + 30, y + 140)
      try page.mouse("mouseMoved", x + 60, y + 180)
      try page.mouse("mouseReleased", x + 60, y + 180)
      let byMouse = try page.evaluate(Self.places)
      #expect(byMouse != byKeys)
      #expect(try page.evaluate(Self.crossings) == 0)
      #expect(try page.evaluate("document.querySelector('.detail').hidden") == true)
      try page.picture("moved")
      try page.reload()
      try page.wait("!window.isFormer && document.querySelector('.box')")
      #expect(try page.evaluate(Self.places) == byMouse)
      try page.evaluate(
        "[...document.querySelectorAll('.bar button')].find((each) => each.innerText === 'Arrange').click()"
      )
      #expect(try page.evaluate(Self.places) == first)
      #expect(page.complaints == [])
    }
  }

  @Test("The diagram can show names only, or one entity and its neighbours")
  func namesAndNeighboursAlone() throws {
    try ServedStore.use { served in
      let page = try Chromium(showing: served.browser.url)
      #expect(
        try page.evaluate("getComputedStyle(document.querySelector('.type')).display") != "none")
      try page.evaluate("document.querySelector('.stage').focus()")
      for _ in 0..<8 { try page.press("-") }
      #expect(
        try page.evaluate("getComputedStyle(document.querySelector('.type')).display") == "none")
      #expect(
        try page.evaluate("getComputedStyle(document.querySelector('.far-name')).display") != "none"
      )
      try page.picture("far")
      try page.press("0")
      try showNeighborsOfOffice(page)
      #expect(try page.evaluate("document.querySelectorAll('.edge').length") == 1)
      try page.press("Escape")
      try page.wait("document.querySelectorAll('.box').length === 4")
      #expect(page.complaints == [])
    }
  }

  /// Models refuse such names, but a diagram doesn't depend on that.
  @Test("Hostile names don't change the structure of the SVG")
  func hostileNamesStayNamesInExports() throws {
    try ServedStore.use(employees: 0) { served in
      let page = try Chromium(showing: served.browser.url)
      let texts =
        try page.evaluate(
          #"""
          (async () => {
            const { standalone } = await import("./diagram.js");
            const { svg } = await import("./dom.js");
            const scene = svg("g", {}, svg("text", {}, "A\"]{\n<b>\u202e]]>&\u0000"));
            const picture = standalone(scene, { left: 0, top: 0, right: 9, bottom: 9 });
            const parsed = new DOMParser().parseFromString(
              picture.split(/<style>[^<]*<\/style>/).join(""), "image/svg+xml");
            return [
              String(parsed.querySelector("parsererror") === null),
              parsed.querySelector("text")?.textContent, String(parsed.querySelectorAll("*").length),
            ];
          })()
          """#
        ).array?.compactMap(\.string) ?? []
      #expect(texts == ["true", "A\"]{\n<b>\\u{202E}]]>&\\u{0}", "3"])
      #expect(page.complaints == [])
    }
  }

  @Test("The exports are complete, and the SVG is well-formed")
  func theSchemaIsExported() throws {
    try ServedStore.use { served in
      let page = try Chromium(showing: served.browser.url)
      try page.evaluate(
        """
        window.texts = {};
        const make = URL.createObjectURL;
        URL.createObjectURL = (blob) => { blob.text().then((text) => { texts[blob.type] = text; }); return make(blob); };
        for (const name of ["SVG", "Mermaid"]) {
          [...document.querySelectorAll(".bar button")].find((each) => each.innerText === name).click();
        }
        """)
      try page.wait("Object.keys(texts).length === 2")
      #expect(
        try page.evaluate("texts['text/plain']").string
          == MermaidDiagram(SchemaDifference(served.store.model)).text + "\n")
      #expect(
        try page.evaluate(
          """
          (() => {
            const parts = texts["image/svg+xml"].split(/<style>[^<]*<\\/style>/);
            const svg = new DOMParser().parseFromString(parts.join(""), "image/svg+xml");
            return [svg.querySelector("parsererror") === null, svg.querySelectorAll(".box").length,
              svg.querySelectorAll(".edge .line").length, parts.length - 1,
              svg.querySelectorAll("[tabindex], [onclick]").length];
          })()
          """) == [true, 4, 3, 1, 0])

      // The neighbors of an entity alone.
      try page.evaluate("delete texts['text/plain']")
      try showNeighborsOfOffice(page)
      try page.evaluate(
        "[...document.querySelectorAll('.bar button')].find((each) => each.innerText === 'Mermaid').click()"
      )
      try page.wait("texts['text/plain']")
      #expect(
        try page.evaluate("texts['text/plain']") == #"""
          classDiagram
            class E1["Employee"] {
              integer16 age
              decimal? salary
              date? hired
              uuid? badge
              boolean isActive
              binary? photo
              string? notes
            }
            class E2["Office"] {
              string city
            }
            E1 "*" -- "1" E2 : office / employees

          """#)
      #expect(page.complaints == [])
    }
  }
}
