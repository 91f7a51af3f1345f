import ArborJSON
import ArborModel
import Foundation

/// Writes a verb's answer to the standard output, as text or as a JSON document.
struct Printer {
  let isJSON: Bool
  private var pending: [UInt8] = []
  private var listCount: Int?

  init(isJSON: Bool) { self.isJSON = isJSON }

  /// Prints an entire answer in the requested form.
  mutating func print(
    json: @autoclosure () throws -> JSONValue, text: @autoclosure () -> String
  ) rethrows {
    write(isJSON ? try json().text(.pretty) : text())
    write("\n")
  }

  /// Begins an answer of several parts, in JSON a list with one element per line.
  mutating func beginList() {
    listCount = 0
    if isJSON { write("[") }
  }

  /// Prints a part of the list.
  mutating func add(json: @autoclosure () -> JSONValue, text: @autoclosure () -> String) {
    if isJSON {
      write(listCount == 0 ? "\n" : ",\n")
      write(json().text(.compact))
    } else {
      write(text())
      write("\n")
    }
    listCount = (listCount ?? 0) + 1
  }

  /// Ends the list. As text, prints `summary`.
  mutating func endList(summary: String) {
    write(isJSON ? (listCount == 0 ? "]\n" : "\n]\n") : summary + "\n")
    listCount = nil
  }

  /// Ends a list after an error, so that the output is a valid document.
  mutating func cutList() {
    if isJSON, listCount != nil { endList(summary: "") }
    flush()
  }

  /// Writes a line of text without trailing blanks.
  mutating func write(line: [UInt8]) {
    let end = line.lastIndex { $0 != UInt8(ascii: " ") }.map { $0 + 1 } ?? 0
    pending.append(contentsOf: line[..<end])
    write("\n")
  }

  /// Writes the pending output.
  mutating func flush() {
    guard !pending.isEmpty else { return }
    StandardStream.write(pending)
    pending.removeAll(keepingCapacity: true)
  }

  private mutating func write(_ text: String) {
    pending.append(contentsOf: text.utf8)
    if pending.count > 1 << 16 { flush() }
  }
}
