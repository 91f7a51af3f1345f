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
  /// The object as `Entity/number` with its label, the table, or the part of the model.
  let subject: String
  /// The description of the difference, after the subject.
  let text: String
  /// The difference as JSON members.
  let json: JSONObject

  /// Returns the difference as a line of text, whose mark and subject have the color of its kind.
  func line(_ view: TerminalView) -> String {
    let (mark, color) =
      switch kind {
      case .added: ("+", 32)
      case .gone: ("-", 31)
      case .changed: ("~", 33)
      case .model: ("!", 36)
      }
    let head = "\(mark) \(subject)"
    return (view.isColored ? "\u{1B}[\(color)m\(head)\u{1B}[0m" : head) + "  \(text)"
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
  /// The progress, which is shown until there is a difference to print.
  private let progress: ProgressLine
  private(set) var counts: [Difference.Kind: Int] = [:]

  init(_ progress: ProgressLine) { self.progress = progress }

  var isEmpty: Bool { counts.isEmpty }

  /// Shows what is being compared.
  func report(_ name: String) { progress.report(name) }

  mutating func add(_ difference: Difference, to printer: inout Printer) {
    progress.end()
    counts[difference.kind, default: 0] += 1
    let view = printer.view
    printer.add(json: difference.document, text: difference.line(view))
  }

  var summary: String {
    if isEmpty { return "no differences" }
    let words: [(Difference.Kind, String)] = [
      (.added, "added"), (.gone, "removed"), (.changed, "changed"), (.model, "in the model"),
    ]
    return words.compactMap { kind, word in counts[kind].map { "\($0) \(word)" } }
      .joined(separator: ", ")
  }
}
