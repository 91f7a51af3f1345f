import ArgumentParser

/// The options of verbs that print rows: their form and destination.
struct RowArguments: ParsableArguments {
  enum Form: String, EnumerableFlag {
    case csv, tsv, ndjson, markdown

    static func help(for value: Self) -> ArgumentHelp? {
      switch value {
      case .csv: "Print comma-separated values with the names of the columns."
      case .tsv: "Print tab-separated values with the names of the columns."
      case .ndjson: "Print a JSON document on each line."
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

  func destination(json: Bool) throws -> Output {
    if json, let form { throw ValidationError("Use either --json or --\(form.rawValue).") }
    return Output(
      form: json ? .json : outputForm, path: output, replaces: force)
  }

  func validate() throws {
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
