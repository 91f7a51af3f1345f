import ArborJSON
import ArborModel

/// A difference between two files.
struct Difference {
  enum Kind: String {
    case added, gone, changed
    /// A difference between the models or the forms of tables, not their contents.
    case model
  }

  let kind: Kind
  /// The object as `Entity/number`, the table, or the part of the model.
  let subject: String
  /// The description of the difference, after the subject.
  let text: String
  /// The same as JSON members.
  let json: JSONObject

  /// The difference as a line of text.
  var line: String {
    let mark =
      switch kind {
      case .added: "+"
      case .gone: "-"
      case .changed: "~"
      case .model: "!"
      }
    return "\(mark) \(subject)  \(text)"
  }

  var document: JSONValue {
    var object = JSONObject()
    object["change"] = .string(kind.rawValue)
    for (name, value) in json { object[name] = value }
    return .object(object)
  }
}

/// Prints differences as they are found, and counts them.
struct DifferenceList {
  private(set) var counts: [Difference.Kind: Int] = [:]

  var isEmpty: Bool { counts.isEmpty }

  mutating func add(_ difference: Difference, to printer: inout Printer) {
    counts[difference.kind, default: 0] += 1
    printer.add(json: difference.document, text: difference.line)
  }

  var summary: String {
    if isEmpty { return "no differences" }
    let words: [(Difference.Kind, String)] = [
      (.added, "added"), (.gone, "gone"), (.changed, "changed"), (.model, "of the model"),
    ]
    return words.compactMap { kind, word in counts[kind].map { "\($0) \(word)" } }
      .joined(separator: ", ")
  }
}
