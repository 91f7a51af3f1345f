import Testing

@testable import lmdb_inspect

/// Text for a terminal, and the keys read from it.
@Suite struct TerminalTextTests {
  @Test(
    "Widths are those of terminals",
    arguments: [
      ("", 0), ("abc", 3), ("é", 1), ("e\u{301}", 1), ("项目", 4), ("ｆ", 2), ("한", 2), ("👩‍👩‍👧", 2),
      ("☂\u{FE0F}", 2), ("a\u{200B}", 1), ("→ 3", 3),
      ("\u{1112}\u{1161}\u{11AB}", 2), ("क्षि", 3), ("🇱🇻", 2), ("\u{2329}", 2), ("\u{AD}x", 1),
      ("o\u{302}\u{323}", 1), ("“Café” – 5", 10), ("‘a\u{AD}b’", 4),
    ])
  func widthsAreThoseOfTerminals(_ text: String, _ width: Int) {
    #expect(TextWidth.of(text) == width, "\(text)")
  }

  @Test("Text is truncated between characters")
  func textsAreCutBetweenCharacters() {
    #expect(TextWidth.cut("项目一", to: 6) == "项目一")
    #expect(TextWidth.cut("项目一", to: 5) == "项目…")
    #expect(TextWidth.cut("项目一", to: 4) == "项…")
    #expect(TextWidth.cut("abc", to: 0) == "" && TextWidth.cut("abc", to: 1) == "…")
    #expect(TextWidth.padded("项", to: 4) == "项  ")
  }

  private func keys(_ text: String, isComplete: Bool = true) -> [Key] {
    var decoder = KeyDecoder()
    decoder.add(Array(text.utf8))
    var keys: [Key] = []
    while let key = decoder.next(isComplete: isComplete) { keys.append(key) }
    return keys
  }

  @Test("Keys and escape sequences are decoded")
  func keysAreKnown() {
    #expect(keys("\u{1B}[A\u{1B}[B\u{1B}OC\u{1B}[D") == [.up, .down, .right, .left])
    #expect(keys("\u{1B}[H\u{1B}[F\u{1B}[1~\u{1B}[4~") == [.home, .end, .home, .end])
    #expect(keys("\u{1B}[5~\u{1B}[6~\u{1B}[3~") == [.pageUp, .pageDown, .delete])
    #expect(
      keys("aé项\r\u{7F}\u{3}") == [
        .text("a"), .text("é"), .text("项"), .enter, .backspace, .control("c"),
      ])
    #expect(keys("\u{1B}") == [.escape] && keys("\u{1B}", isComplete: false) == [])
    #expect(keys("\u{1B}q") == [.escape, .text("q")])
    // A key with a modifier, and an unsupported key.
    #expect(keys("\u{1B}[1;5A\u{1B}[15~x") == [.up, .text("x")])
  }

  @Test("Invalid UTF-8 input is ignored")
  func bytesThatAreNoTextAreLeftOut() {
    var decoder = KeyDecoder()
    decoder.add([0xFF, 0xC3])
    #expect(decoder.next(isComplete: false) == nil && decoder.isWaiting)
    decoder.add([0xA9, 0x80, 0x61])
    #expect(decoder.next(isComplete: false) == .text("é"))
    #expect(decoder.next(isComplete: false) == .text("a"))
    #expect(!decoder.isWaiting)
  }

  @Test("A treemap fills its rectangle with areas proportional to the sizes")
  func rectanglesFillTheWhole() {
    let whole = Treemap.Rectangle(x: 0, y: 0, width: 600, height: 400)
    let sizes = [6.0, 6, 4, 3, 2, 2, 1]
    let rectangles = Treemap.rectangles(for: sizes, in: whole)
    #expect(rectangles.count == sizes.count)
    for (size, rectangle) in zip(sizes, rectangles) {
      #expect(abs(rectangle.area - size * 10_000) < 0.001)
      #expect(rectangle.x >= -0.001 && rectangle.x + rectangle.width <= 600.001)
      #expect(rectangle.y >= -0.001 && rectangle.y + rectangle.height <= 400.001)
      let ratio = rectangle.width / rectangle.height
      #expect(max(ratio, 1 / ratio) < 4)
    }
    #expect(Treemap.rectangles(for: [], in: whole) == [])
  }
}
