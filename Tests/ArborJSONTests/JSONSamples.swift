import TestLength
import Foundation

/// Random documents: sound ones that cover the whole grammar, and damaged ones.
struct JSONSamples {
  private var generator: SplitMix

  init(seed: UInt64) { generator = SplitMix(seed: seed) }

  mutating func number(below limit: Int) -> Int { Int(generator.next() % UInt64(limit)) }

  private mutating func pick<T>(_ choices: [T]) -> T { choices[number(below: choices.count)] }

  /// Returns white space, which is mostly empty.
  mutating func space() -> String { pick(["", "", "", "", " ", "\n", "\r\n", "\t  ", " \n\n "]) }

  mutating func text() -> String {
    let parts = [
      "a", "key", "long plain text without anything", "é", "日本", "😀", "\\n", "\\\"", "\\\\",
      "\\u00e9",
      "\\ud83d\\ude00", "\\/", "e\u{301}", "{", "]", ",", ":", " ",
    ]
    return "\"" + (0..<number(below: 5)).map { _ in pick(parts) }.joined() + "\""
  }

  mutating func scalar() -> String {
    switch number(below: 6) {
    case 0: pick(["null", "true", "false"])
    case 1, 2: text()
    case 3: String(Int64(bitPattern: generator.next()) >> Int64(number(below: 64)))
    default: pick(["0", "-0", "1.5", "-12.25e+3", "1E5", "0.0001", "1e400", "7"])
    }
  }

  mutating func value(depth: Int = 0) -> String {
    guard depth < 4, number(below: 3) == 0 else { return scalar() }
    return number(below: 2) == 0 ? list(depth: depth) : object(depth: depth)
  }

  mutating func list(depth: Int = 0, upTo maximum: Int = 6) -> String {
    let elements = (0..<number(below: maximum)).map { _ in
      space() + value(depth: depth + 1) + space()
    }
    return "[" + (elements.isEmpty ? space() : elements.joined(separator: ",")) + "]"
  }

  /// Returns an object, which rarely has duplicate keys.
  mutating func object(depth: Int = 0, with member: (String, String)? = nil) -> String {
    let count = number(below: 5)
    var members = (0..<count).map { number in
      space() + (self.number(below: 40) == 0 ? text() : "\"k\(number)\(text().dropFirst())")
        + space() + ":" + space() + value(depth: depth + 1) + space()
    }
    if let member {
      members.insert(
        "\(space())\"\(member.0)\"\(space()):\(space())\(member.1)", at: number(below: count + 1))
    }
    return "{" + (members.isEmpty ? space() : members.joined(separator: ",")) + "}"
  }

  /// Returns the bytes, usually unchanged, or with some of them changed, removed, inserted or cut
  /// off.
  mutating func damaged(_ text: String) -> Data {
    var bytes = Array(text.utf8)
    let spare = Array("{}[]\",:\\u0019e-.tn\n\u{80}é 😀".utf8) + [0x00, 0x1F, 0xC3, 0xED, 0xFF]
    for _ in 0..<max(0, number(below: 5) - 2) where !bytes.isEmpty {
      let offset = number(below: bytes.count)
      switch number(below: 5) {
      case 0, 1: bytes[offset] = pick(spare)
      case 2: bytes.remove(at: offset)
      case 3: bytes.insert(pick(spare), at: offset)
      default: bytes.removeSubrange(offset...)
      }
    }
    return Data(bytes)
  }
}
