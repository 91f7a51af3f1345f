import ArborData
import ArborModel
import Foundation
import TestSupport
import Testing
import ArborBrowser

/// A store in which every string attempts to inject markup or code into the page.
@Suite("Hostile strings in the page", .serialized, .enabled(if: Chromium.executable != nil))
struct PageHostileTests {
  private static let attack =
    "<img src=x onerror=\"window.harm=1\"><script>window.harm=1</script>"
    + "<a href=\"javascript:window.harm=1\">x</a>'\"`${window.harm=1}</title></textarea>"
    + "\u{202E}\u{0}\u{1F}\u{200B}\u{2066}\u{AD}\u{E0041}\u{3164}&lt;b&gt;"

  /// A script that finds invisible characters, and characters that affect the direction of text, in
  /// text and accessible names. The contents of input fields are exempt because they are the
  /// values.
  static let unseen = #"""
    (() => {
      const found = [];
      const look = (text, where) => {
        if (/[\p{Cc}\p{Bidi_Control}\u00ad\u200b\u2060-\u206f\u3164\u{e0000}-\u{e007f}]/u.test(text.replace(/[\n\t]/g, "")))
          found.push(where + text);
      };
      const texts = document.createTreeWalker(document, NodeFilter.SHOW_TEXT);
      while (texts.nextNode()) look(texts.currentNode.data, "");
      for (const element of document.querySelectorAll("*")) {
        for (const name of ["title", "aria-label", "alt", "placeholder"]) look(element.getAttribute(name) || "", name);
      }
      return found;
    })()
    """#

  @Test("Hostile texts are displayed as text")
  func textsStayTexts() throws {
    let folder = try TemporaryFolder()
    let url = folder.url.appending(path: "<img src=x onerror=harm=1>&amp;.arbor")
    let model = try ManagedObjectModel {
      EntityDescription("Thing") {
        AttributeDescription("name", .string)
        AttributeDescription("page", .uri, .optional)
        AttributeDescription("data", .binary, .optional)
        RelationshipDescription("others", to: "Thing", inverse: "one", .toMany, .optional)
        RelationshipDescription("one", to: "Thing", inverse: "others", .optional)
      }
    }
    let store = try PersistentStore(model: model, at: .file(url))
    try change(store)
    var options = StoreBrowser.Options()
    options.allowsWriting = true
    do {
      let browser = try StoreBrowser(store, options: options)
      defer {
        browser.stop()
        browser.waitUntilStopped()
      }
      try look(try Chromium(), browser, store)
    }
    store.close()
    try TemporaryStore.check(path: url.path)
  }

  private func change(_ store: PersistentStore) throws {
    let context = store.makeContext()
    context.author = Self.attack
    context.name = Self.attack
    let things = try (0..<3).map { _ in
      let thing = try context.insert("Thing")
      thing["name"] = PropertyValue.string(Self.attack)
      // An SVG image with a script, and a `javascript:` URL.
      thing["data"] = PropertyValue.binary(Data("<svg onload='window.harm=1'>\(Self.attack)".utf8))
      thing["page"] = URL(string: "javascript:window.harm=1").map(PropertyValue.uri) ?? .null
      return thing
    }
    try things[0].objects(forKey: "others").replaceAll(with: things[1...])
    try context.commit()
  }

  private func look(_ page: Chromium, _ browser: StoreBrowser, _ store: PersistentStore) throws {
    try page.open(browser.url)
    try page.exists(".box")
    #expect(try page.text("#store-name") == "<img src=x onerror=harm=1>&amp;.arbor")
    let where_ = "name%20CONTAINS%20'%3Cimg'"
    let views = [
      ("objects/Thing?where=\(where_)&id=Thing/1", ".detail .relationship a"),
      ("objects/%3Cimg%20src%3Dx%20onerror%3Dharm%3D1%3E", ".failure"),
      ("objects/Thing?id=%3Cimg%20src%3Dx%20onerror%3Dharm%3D1%3E", ".detail .failure"),
      ("query?entity=Thing&column=name,page,others.@count", ".result .rows .row:not(.waiting)"),
      ("query?entity=Thing&where=%3Cimg%20src%3Dx%20onerror%3Dharm%3D1%3E", ".problem:not(:empty)"),
      ("history", ".commit summary"), ("health", ".space-map"), ("schema", ".box"),
    ]
    for (address, mark) in views {
      try page.evaluate("location.hash = `#/\(address)`")
      try page.exists(mark)
      if address == "history" {
        try page.click(".commit summary")
        try change(store)
        try page.wait("document.querySelectorAll('.commit').length === 2")
        try page.click(".commit summary")
        try page.wait("document.querySelector('.changes')")
      }
      try page.picture("hostile-\(address.prefix { $0.isLetter })")
      #expect(try page.evaluate("window.harm ?? 0") == 0, "\(address)")
      #expect(try page.evaluate(Self.unseen) == [], "\(address)")
      // Only the page's own elements exist.
      #expect(
        try page.evaluate(
          """
          document.querySelectorAll('script').length === 1
            && [...document.images].every((image) => image.src.endsWith('/icon.svg'))
            && !document.querySelector('a[href^="javascript"], iframe, object, embed')
            && !document.querySelector('[onerror], [onload], [onclick]')
          """) == true, "\(address)")
    }
    try page.evaluate("location.hash = '#/objects/Thing?id=Thing/1'")
    try page.exists(".detail .values")
    #expect(
      try page.evaluate(
        "document.querySelector('.detail').innerText.includes('\\\\u{202E}\\\\u{0}\\\\u{1F}\\\\u{200B}')"
      ) == true)
    // The changes of a commit, as they arrive in the stream.
    try page.evaluate("location.hash = '#/objects/Thing?id=Thing/1'")
    try page.exists(".detail .actions button")
    try page.click(".detail .actions button")
    try page.exists(".edit .members")
    #expect(try page.evaluate(Self.unseen) == [])
    try page.evaluate(
      """
      { const field = document.querySelector('.edit textarea, .edit input[type=text]');
        field.value += '!'; field.dispatchEvent(new Event('input', { bubbles: true })); }
      """)
    try page.click(".edit .primary")
    try page.click("#review")
    try page.exists("dialog .changes .new")
    #expect(try page.evaluate(Self.unseen) == [])
    #expect(try page.text("dialog .staged-edits").contains("\\u{202E}"))
    try page.evaluate("document.getElementById('dialog').close()")
    try page.press("k", control: true)
    try page.wait("document.activeElement.id === 'search-text'")
    try page.type("Thing/1")
    try page.exists("#search [role=option]")
    #expect(try page.text("#search [role=option]").contains("<img src=x"))
    #expect(try page.evaluate(Self.unseen) == [])
    #expect(try page.evaluate("window.harm ?? 0") == 0)
    #expect(page.complaints == [])
  }

  /// Both keep joiners; the page also keeps line breaks and tabs.
  @Test("The page escapes the same characters as the command line")
  func theListsOfCharactersAreTheSame() throws {
    try ServedStore.use(employees: 0) { served in
      let page = try Chromium(showing: served.browser.url)
      let escaped = try page.evaluate(
        """
        (async () => {
          const { visible } = await import("./dom.js");
          const found = [];
          for (let code = 0; code < 0x110000; code++) {
            if (code >= 0xd800 && code < 0xe000) continue;
            const text = String.fromCodePoint(code);
            if (visible(text) !== text) found.push(`${code} ${visible(text)}`);
          }
          return found;
        })()
        """
      ).array?.compactMap(\.string)
      var expected: [String] = []
      for value in UInt32(0)..<0x11_0000 {
        guard let scalar = Unicode.Scalar(value), scalar != "\n", scalar != "\t" else { continue }
        let text = String(Character(scalar))
        let shown = TerminalText.escaped(text)
        if shown != text { expected.append("\(value) \(shown)") }
      }
      #expect(escaped == expected)
      #expect(page.complaints == [])
    }
  }

  /// Names consist of letters and digits, and may equal names of JavaScript properties. The page
  /// doesn't confuse them.
  @Test("The page doesn't confuse names with JavaScript properties")
  func namesAreNoPartsOfTheScript() throws {
    let folder = try TemporaryFolder()
    let url = folder.url.appending(path: "names.arbor")
    #expect(throws: ArborError.self) {
      _ = try ManagedObjectModel { EntityDescription("<img src=x onerror=harm=1>") {} }
    }
    let model = try ManagedObjectModel {
      EntityDescription("constructor") {
        AttributeDescription("toString", .string)
        AttributeDescription("prototype", .integer64, .indexed, .default(0))
        AttributeDescription("length", .integer64, .default(0))
        RelationshipDescription("hasOwnProperty", to: "שם", inverse: "valueOf", .toMany, .optional)
      }
      EntityDescription("שם") {
        AttributeDescription("then", .string, .optional)
        RelationshipDescription("valueOf", to: "constructor", inverse: "hasOwnProperty", .optional)
      }
    }
    let store = try PersistentStore(model: model, at: .file(url))
    let context = store.makeContext()
    let thing = try context.insert("constructor")
    thing["toString"] = "text"
    try context.insert("שם").setObject(thing, forKey: "valueOf")
    try context.commit()
    do {
      var options = StoreBrowser.Options()
      options.allowsWriting = true
      let browser = try StoreBrowser(store, options: options)
      defer {
        browser.stop()
        browser.waitUntilStopped()
      }
      let page = try Chromium()
      try page.open(browser.url)
      try page.wait("document.querySelectorAll('.box').length === 2")
      let views = [
        ("objects/constructor?where=length%20==%200&sort=prototype&id=constructor/1", ".links a"),
        ("objects/%D7%A9%D7%9D?id=%D7%A9%D7%9D/1", ".detail .relationship a"),
        (
          "query?entity=constructor&column=toString,prototype&sort=prototype",
          ".result .rows .row:not(.waiting)"
        ),
        ("history", ".commit summary"), ("health", ".treemap"),
      ]
      for (address, mark) in views {
        try page.evaluate("location.hash = `#/\(address)`")
        try page.exists(mark)
        #expect(try page.evaluate("!document.querySelector('.failure')") == true, "\(address)")
      }
      #expect(page.complaints == [])
    }
    store.close()
    try TemporaryStore.check(path: url.path)
  }
}
