import ArborJSON
import ArborModel

/// One thing in which two files differ.
struct Difference {
  enum Kind: String {
    case added, gone, changed
    /// The models or the forms of tables, rather than what is in them.
    case model
  }

  let kind: Kind
  /// The object as `Entity/number`, the table, or what of the model.
  let subject: String
  /// What there is to say behind the subject.
  let text: String
  /// The parts of the same for programs.
  let json: JSONObject

  /// The difference on one line.
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

  /// What there was, in words.
  var summary: String {
    if isEmpty { return "no differences" }
    let words: [(Difference.Kind, String)] = [
      (.added, "added"), (.gone, "gone"), (.changed, "changed"), (.model, "of the model"),
    ]
    return words.compactMap { kind, word in counts[kind].map { "\($0) \(word)" } }
      .joined(separator: ", ")
  }
}
