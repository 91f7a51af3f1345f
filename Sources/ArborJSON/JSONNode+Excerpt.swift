extension JSONNode {
  /// How many bytes of a value an excerpt shows.
  private static let excerptSize = 100

  /// The value as it may stand in the description of an error: whole where it is short, else its
  /// beginning. Costs no more than what it shows.
  package var excerpt: String {
    let entry = document.tape.entries[tapeIndex]
    let size: Int
    switch entry.kind {
    case .array, .object:
      // Each part takes two bytes at least, so that many of them are more than is shown.
      size = 2 * (Int(entry.next) - tapeIndex)
    default: size = entry.range.count
    }
    guard size > Self.excerptSize else { return Self.shortened(value.text()) }
    return document.bytes.withBuffer { bytes in
      let start = Int(entry.start)
      let end = min(start + Self.excerptSize, bytes.count)
      return String(decoding: bytes[start..<end], as: UTF8.self) + "…"
    }
  }

  /// A text of few parts may still have a long one.
  private static func shortened(_ text: String) -> String {
    text.utf8.count <= 10 * excerptSize ? text : text.prefix(excerptSize) + "…"
  }
}
