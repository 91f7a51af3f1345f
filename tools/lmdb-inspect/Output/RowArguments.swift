import ArborBrowser
import ArgumentParser

/// The options of verbs that print rows: their form and destination.
struct RowArguments: ParsableArguments {
  enum Form: String, EnumerableFlag {
    case csv, tsv, ndjson, markdown

    static func help(for value: Self) -> ArgumentHelp? {
      switch value {
      case .csv: "Print comma-separated values with column names."
      case .tsv: "Print tab-separated values with column names."
      case .ndjson: "Print one JSON document per line."
      case .markdown: "Print a Markdown table."
      }
    }
  }

  @Flag(exclusivity: .exclusive)
  var form: Form?

  @Option(
    name: [.short, .long],
    help: ArgumentHelp(
      "Write to a new file, which appears once it is complete.", valueName: "file"),
    completion: .file())
  var output: String?

  @Flag(help: "Replace the output file if it exists.")
  var force = false

  @Flag(help: "Print whole lines, even if they exceed the width of the terminal.")
  var wide = false

  @Flag(help: "Print each column of a row on a separate line.")
  var expanded = false

  func destination(json: Bool) throws -> Output {
    if json, let form { throw ValidationError("Use either --json or --\(form.rawValue).") }
    var destination = Output(form: json ? .json : outputForm, path: output, replaces: force)
    destination.isWide = wide
    destination.isExpanded = expanded
    return destination
  }

  func validate() throws {
    if expanded, let form {
      throw ValidationError("Use either --expanded or --\(form.rawValue).")
    }
    if force, output == nil {
      throw ValidationError("--force requires --output.")
    }
  }

  private var outputForm: OutputForm {
    switch form {
    case nil: .text
    case .csv: .delimited(.csv)
    case .tsv: .delimited(.tsv)
    case .markdown: .delimited(.markdown)
    case .ndjson: .ndjson
    }
  }
}
