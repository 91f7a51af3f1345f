/// Bytes with sixteen on a line: their offset, hexadecimal digits and ASCII characters.
enum HexDump {
  static func lines(_ bytes: [UInt8]) -> [String] {
    if bytes.isEmpty { return ["(empty)"] }
    return stride(from: 0, to: bytes.count, by: 16).map { start in
      let row = bytes[start..<min(start + 16, bytes.count)]
      let offset = String(start, radix: 16)
      let hex = row.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined(separator: " ")
      let text = String(row.map { (0x20..<0x7F).contains($0) ? Character(UnicodeScalar($0)) : "." })
      return String(repeating: "0", count: max(0, 6 - offset.count)) + offset + "  " + hex
        + String(repeating: " ", count: 47 - hex.count) + "  |\(text)|"
    }
  }
}
