import Foundation

/// The program's manual page for `man`: the help in roff format.
struct ManualPage {
  /// The argument parser's description of a command.
  struct Command: Decodable {
    struct Argument: Decodable {
      struct Name: Decodable {
        let kind: String
        let name: String
      }

      let kind: String
      let abstract: String?
      let valueName: String?
      let names: [Name]?
      let isOptional: Bool
      let isRepeating: Bool
      let shouldDisplay: Bool
      let defaultValue: String?
    }

    let commandName: String
    let abstract: String?
    let discussion: String?
    let arguments: [Argument]?
    let subcommands: [Command]?
    let shouldDisplay: Bool
  }

  private struct Dump: Decodable { let command: Command }

  /// The start of the paragraph that lists exit codes.
  private static let exitCodes = "Exit codes: "

  private let program: Command
  private var lines: [String] = []

  /// - Parameter dump: The output of `--experimental-dump-help`.
  /// - Throws: `DecodingError` for other text.
  init(dump: String) throws {
    program = try JSONDecoder().decode(Dump.self, from: Data(dump.utf8)).command
  }

  func text() -> String {
    var page = self
    page.add()
    return page.lines.joined(separator: "\n") + "\n"
  }

  private mutating func add() {
    let name = program.commandName
    lines.append(".\\\" Made by “\(name) manual”; change the help of the program instead.")
    lines.append(".TH \(name.uppercased()) 1 \"\" \"ArborData\" \"ArborData\"")
    lines.append(".SH NAME")
    lines.append("\(name) \\- \(Self.escaped(Self.lowercased(program.abstract ?? "")))")
    lines.append(".SH SYNOPSIS")
    lines.append(".B \(Self.escaped(name))")
    lines.append("\\fIverb\\fR \\fIargument\\fR ...")
    lines.append(".SH DESCRIPTION")
    let paragraphs = Self.paragraphs(program.discussion)
    for paragraph in paragraphs where !paragraph.hasPrefix(Self.exitCodes) { add(paragraph) }
    lines.append(".SH VERBS")
    for verb in program.subcommands ?? [] where verb.shouldDisplay && verb.commandName != "help" {
      add(verb)
    }
    lines.append(".SH EXIT STATUS")
    for paragraph in paragraphs where paragraph.hasPrefix(Self.exitCodes) {
      addExitCodes(String(paragraph.dropFirst(Self.exitCodes.count)))
    }
  }

  private mutating func add(_ verb: Command) {
    let arguments = (verb.arguments ?? []).filter { argument in
      argument.shouldDisplay
        && !(argument.names ?? []).contains { ["help", "version"].contains($0.name) }
    }
    let usage = arguments.filter { $0.kind == "positional" }.map(Self.usage)
    let options = arguments.contains { $0.kind != "positional" } ? ["[\\fIoptions\\fR]"] : []
    let title = [Self.escaped(verb.commandName)] + usage + options
    lines.append(".SS \(title.joined(separator: " "))")
    add(verb.abstract ?? "", isFirst: true)
    for paragraph in Self.paragraphs(verb.discussion) { add(paragraph) }
    for argument in arguments { add(argument) }
  }

  private mutating func add(_ argument: Command.Argument) {
    lines.append(".TP")
    let value = "\\fI\(Self.escaped(argument.valueName ?? "value"))\\fR"
    if argument.kind == "positional" {
      lines.append(value)
    } else {
      let names = (argument.names ?? []).map { name in
        "\\fB\(Self.escaped((name.kind == "long" ? "--" : "-") + name.name))\\fR"
      }.joined(separator: ", ")
      lines.append(argument.kind == "option" ? "\(names) \(value)" : names)
    }
    let standard = argument.defaultValue.flatMap { $0.isEmpty ? nil : " Default: \($0)." } ?? ""
    lines.append(Self.line((argument.abstract ?? "") + standard))
  }

  private mutating func add(_ paragraph: String, isFirst: Bool = false) {
    if !isFirst { lines.append(".PP") }
    lines.append(Self.line(paragraph))
  }

  /// Parses `0, meaning; 1, …`.
  private mutating func addExitCodes(_ list: String) {
    for part in list.split(separator: "; ") {
      let code = part.prefix { $0 != "," }
      lines.append(".TP")
      lines.append("\\fB\(Self.escaped(String(code)))\\fR")
      let meaning = part.dropFirst(code.count + 2)
      lines.append(Self.line(meaning.hasSuffix(".") ? String(meaning) : "\(meaning)."))
    }
  }

  // MARK: Texts

  private static func usage(_ argument: Command.Argument) -> String {
    let name = "\\fI\(escaped(argument.valueName ?? ""))\\fR"
    return (argument.isOptional ? "[\(name)]" : name) + (argument.isRepeating ? " ..." : "")
  }

  private static func paragraphs(_ text: String?) -> [String] {
    (text ?? "").components(separatedBy: "\n\n").filter { !$0.isEmpty }
  }

  /// Returns a text without its initial capital and final period, as required after the program's
  /// name.
  private static func lowercased(_ text: String) -> String {
    let text = text.hasSuffix(".") ? String(text.dropLast()) : text
    return text.prefix(1).lowercased() + text.dropFirst()
  }

  /// Returns text that the formatter doesn't interpret as a request.
  private static func line(_ text: String) -> String {
    let line = escaped(text.replacing("\n", with: " "))
    return line.hasPrefix(".") || line.hasPrefix("'") ? "\\&\(line)" : line
  }

  private static func escaped(_ text: String) -> String {
    text.replacing("\\", with: "\\e").replacing("-", with: "\\-")
  }
}
