import ArborJSON
import Foundation
import TestSupport
import Testing
import ArborBrowser

/// The page of an LMDB file of another program: its tables, keys and values.
@Suite(.serialized, .enabled(if: Chromium.executable != nil)) struct PageTablesTests {
  private func use(_ body: (ForeignFile, Chromium, URL) throws -> Void) throws {
    let file = try ForeignFile()
    defer { file.remove() }
    try file.write { transaction in
      let many = try ForeignFile.open(transaction, "many", 0x40000)
      for number in 0..<5000 {
        let key = Array("key \(String(number + 10_000).dropFirst())".utf8)
        try ForeignFile.put(transaction, many, key, Array("{\"number\": \(number)}".utf8))
      }
    }
    let before = try Data(contentsOf: file.data)
    try ServedFile.use([file.folder.path]) { url in
      let page = try Chromium()
      try page.open(url)
      try page.exists(".side")
      try body(file, page, url)
      #expect(page.complaints == [])
    }
    #expect(try Data(contentsOf: file.data) == before)
  }

  @Test func tablesKeysAndValues() throws {
    try use { _, page, _ in
      #expect(try page.text("#store-name") == "data.mdb")
      #expect(
        try page.evaluate(
          "[...document.querySelectorAll('#tabs a:not([hidden])')].map((each) => each.innerText)")
          == ["Tables"])
      #expect(
        try page.evaluate(
          "[...document.querySelectorAll('.side a span:first-child')].map((each) => each.innerText)"
        )
          == ["(unnamed)", "many", "numbers", "sets", "words"])
      func rows(_ table: String) throws -> [String] {
        try page.evaluate("location.hash = '#/tables/\(table)'")
        try page.wait(
          "document.querySelector('.content')?.getAttribute('aria-label') === '\(table)'")
        try page.exists(".rows .row:not(.waiting)")
        let text = """
          [...document.querySelectorAll('.rows .row')].map((row) =>
            [...row.querySelectorAll('.cell')].map((each) => each.innerText).join(' | '))
          """
        return try page.evaluate(text).array?.compactMap(\.string) ?? []
      }
      #expect(try rows("numbers") == ["0 | 7 | n7 | 2", "1 | 300 | n300 | 4"])
      #expect(try rows("sets") == ["0 | 5 | 10 | 8", "1 | 5 | 20 | 8", "2 | 5 | 30 | 8"])
      #expect(
        try rows("words") == [
          "0 | apple | Apfel | 6", "1 | bread | 0xff0041 | 3", "2 | 0x8001 | empty | 0",
        ])
      try page.click(".rows .row:nth-child(2)")
      try page.wait("document.querySelector('.detail h2')?.innerText === 'bread'")
      #expect(try page.text(".detail .binary pre").hasPrefix("000000  ff 00 41"))
      try page.picture("tables")
    }
  }

  @Test func keysAreFoundAndValuesHaveForms() throws {
    try use { _, page, _ in
      try page.evaluate("location.hash = '#/tables/many'")
      try page.wait("document.querySelector('.summary')?.innerText.startsWith('5')")
      try page.press("/")
      try page.type("key 4321")
      try page.press("Enter")
      try page.wait("document.querySelector('.detail h2')?.innerText === 'key 4321'")
      try page.wait(
        "document.querySelector('.rows .selected .cell:nth-child(2)')?.innerText === 'key 4321'")
      #expect(try page.text(".detail .binary pre") == "{\n  \"number\": 4321\n}")
      try page.evaluate(
        "[...document.querySelectorAll('.forms button')].find((each) => each.innerText === 'Text').click()"
      )
      #expect(try page.text(".detail .binary pre") == "{\"number\": 4321}")
      try page.press("/")
      try page.evaluate("document.querySelector('#key').select()")
      try page.type("z")
      try page.press("Enter")
      try page.wait(
        "document.querySelector('#key-problem').innerText === 'No key is equal to or greater than this one.'"
      )
      try page.press("Escape")
      try page.evaluate("location.hash = '#/tables/nothing'")
      try page.wait(
        "document.querySelector('.failure')?.innerText === 'There is no table nothing.'")
    }
  }

  /// Characters that cannot be seen, and those that change the direction of text, are written out.
  @Test func unseenCharactersAreWrittenOut() throws {
    let file = try ForeignFile()
    defer { file.remove() }
    let hostile = "a\u{202E}b\u{200B}c<img src=x onerror=\"window.harm=1\">"
    try file.write { transaction in
      let table = try ForeignFile.open(transaction, hostile, 0x40000)
      try ForeignFile.put(transaction, table, Array(hostile.utf8), Array(hostile.utf8))
      let long = String(repeating: hostile, count: 100)
      try ForeignFile.put(transaction, table, Array("long".utf8), Array(long.utf8))
    }
    try ServedFile.use([file.folder.path]) { url in
      let page = try Chromium()
      try page.open(url)
      try page.exists(".side")
      try page.evaluate("document.querySelectorAll('.side a')[1].click()")
      try page.wait("document.querySelectorAll('.rows .row:not(.waiting)').length === 2")
      let shown = "a\\u{202E}b\\u{200B}c<img src=x onerror=\"window.harm=1\">"
      #expect(try page.text(".side a[aria-current]").hasPrefix(shown))
      #expect(
        try page.evaluate("document.querySelector('.rows').textContent").string?.contains(shown)
          == true)
      #expect(try page.evaluate(PageHostileTests.unseen) == [])
      try page.click(".rows .row")
      try page.exists(".detail .binary")
      #expect(try page.text(".detail h2") == shown)
      #expect(try page.evaluate(PageHostileTests.unseen) == [])
      #expect(try page.evaluate("window.harm ?? 0") == 0)
      #expect(page.complaints == [])
    }
  }

  @Test func everybodyCanUseIt() throws {
    try use { _, page, _ in
      for (width, isDark) in [(1280, false), (1280, true), (390, false), (390, true)] {
        try page.resize(width, 780, isDark: isDark)
        for address in ["tables/many", "tables/words?position=0"] {
          try page.evaluate(
            "window.shifts = 0; window.moved.clear(); location.hash = '#/\(address)'")
          try page.exists(address.contains("?") ? ".detail .binary" : ".rows .row:not(.waiting)")
          try page.wait("document.getElementById('main').getAttribute('aria-busy') === 'false'")
          #expect(try PageAudit.problems(in: page) == [], "\(address) \(width)")
        }
      }
    }
  }

  /// Every control is reached by the Tab key, which then leaves the page.
  @Test func theTabKeyLeavesIt() throws {
    try use { _, page, _ in
      try page.evaluate("location.hash = '#/tables/words?position=0'")
      try page.exists(".detail .binary")
      try PageKeys.expectTabReachesAll(page, "tables")
    }
  }

  /// Nothing can be changed, and commits of the other program are noticed.
  @Test func theFileIsOnlyRead() throws {
    let file = try ForeignFile()
    defer { file.remove() }
    let outcome = try BuiltProgram("lmdb-inspect").run(["serve", file.folder.path, "--write"])
    #expect(outcome.status == 2)
    #expect(outcome.errors.contains("and can only be read. Omit --write."), "\(outcome)")
    try ServedFile.use([file.folder.path]) { url in
      let page = try Chromium()
      try page.open(url)
      try page.exists(".side")
      try file.write { transaction in
        let words = try ForeignFile.open(transaction, "words", 0)
        try ForeignFile.put(transaction, words, Array("cheese".utf8), Array("Käse".utf8))
      }
      try page.exists("#news button")
      // The unnamed table is shown, and has four entries as well.
      let words = "[...document.querySelectorAll('.side a')].at(-1).textContent"
      let choice = "[...document.querySelectorAll('.side option')].at(-1).textContent"
      #expect(try page.evaluate(words) == "words3")
      #expect(try page.evaluate(choice) == "words (3)")
      try page.click("#news button")
      try page.wait("\(words) === 'words4'")
      #expect(try page.evaluate(choice) == "words (4)")
      #expect(
        try page.evaluate("document.querySelectorAll('.table-tools button').length") == 1)
      #expect(page.complaints == [])
    }
  }

  @Test func aRemovedFileIsNoticed() throws {
    let file = try ForeignFile()
    defer { file.remove() }
    try ServedFile.use([file.folder.path]) { url in
      let page = try Chromium()
      try page.open(url)
      try page.exists(".side")
      try FileManager.default.moveItem(
        at: file.data, to: file.folder.appending(path: "moved.mdb"))
      let message =
        "The file was removed or replaced. Start the browser again to see the current file."
      try page.wait("document.querySelector('#news .notice.error')?.innerText === '\(message)'")
      // A new request gets no data of the former file.
      try page.evaluate("location.hash = '#/tables/sets'")
      try page.wait("document.querySelector('.failure')?.innerText === '\(message)'")
      try Data("another file".utf8).write(to: file.data)
      try page.evaluate(
        "document.querySelector('.failure').remove(); location.hash = '#/tables/numbers'")
      try page.wait("document.querySelector('.failure')?.innerText === '\(message)'")
      #expect(page.complaints == [])
    }
  }
}
