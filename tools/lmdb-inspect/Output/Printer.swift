import ArborBrowser
import ArborJSON
import ArborModel
import ArborObjects
import Foundation
import LMDB

/// The format of the output.
enum OutputForm: Equatable {
  case text
  /// One document.
  case json
  /// One document per line.
  case ndjson
  case delimited(DelimitedRows)

  /// The form of a list of rows, or `nil` for text.
  var ofRows: RowForm? {
    switch self {
    case .text: nil
    case .json: .json
    case .ndjson: .ndjson
    case .delimited(let rows): .delimited(rows)
    }
  }
}

/// The format and destination of the output.
struct Output {
  var form = OutputForm.text
  /// The file to create, or `nil` for the standard output.
  var path: String?
  var replaces = false
  var isWide = false
  var isExpanded = false
  /// Whether long output passes through the user's pager.
  var usesPager = false
}

/// Writes a verb's result to standard output or a file: as text, JSON or delimited rows.
struct Printer {
  let form: OutputForm
  let view: TerminalView
  private let file: OutputFile?
  private var awaitsPager: Bool
  private var pending: [UInt8] = []
  /// The list that is being printed, or `nil` for text.
  private var list: RowDocument?

  /// - Parameter source: The inspected file.
  init(_ output: Output, source: String) throws {
    form = output.form
    let isShown = output.path == nil && StandardStream.isTerminal
    view = TerminalView(
      width: isShown && !output.isWide ? TerminalView.columns(of: STDOUT_FILENO) : nil,
      isColored: isShown && TerminalView.isColored(STDOUT_FILENO), isExpanded: output.isExpanded)
    awaitsPager = isShown && output.usesPager
    file = try output.path.map { try OutputFile($0, replaces: output.replaces, source: source) }
  }

  /// Whether text is written to a terminal, which would interpret control characters.
  private var isTerminal: Bool { file == nil && StandardStream.isTerminal }

  /// Prints an entire result in the requested format.
  mutating func print(
    json: @autoclosure () throws -> JSONValue, text: @autoclosure () -> String
  ) rethrows {
    write(form == .text ? text() : try json().text(form == .json ? .pretty : .compact))
    write("\n")
  }

  /// Prints a result of few rows.
  ///
  /// - Parameters:
  ///   - columns: The keys of the rows, in the order of delimited columns.
  ///   - json: The JSON document; by default, the list of rows.
  ///   - text: The rows as text, including a summary.
  mutating func print(
    _ rows: [JSONValue], columns: [String], json: JSONValue? = nil, text: @autoclosure () -> String
  ) {
    switch form {
    case .text, .json: print(json: json ?? .array(rows), text: text())
    case .ndjson, .delimited:
      beginList(columns: columns)
      for row in rows { add(json: row, text: "") }
      endList(summary: "")
    }
  }

  /// Prints a result of few rows, as text in a table.
  ///
  /// - Parameters:
  ///   - empty: The text for no rows.
  ///   - footer: The text after the table.
  mutating func print(
    _ rows: [JSONValue], columns: [String], json: JSONValue? = nil, table: TextTable,
    empty: String = "", footer: String = ""
  ) {
    let view = view
    print(
      rows, columns: columns, json: json,
      text: (table.isEmpty ? empty : table.text(view)) + footer)
  }

  /// Begins a result of several parts. In JSON, it is a list with one element per line.
  ///
  /// - Parameter columns: The keys of the parts, in the order of delimited columns.
  mutating func beginList(columns: [String] = []) {
    list = form.ofRows.map { RowDocument($0, columns: columns, isEscaped: isTerminal) }
    if let list { write(list.head) }
  }

  /// Prints a part of the list.
  mutating func add(json: @autoclosure () -> JSONValue, text: @autoclosure () -> String) {
    write(list?.row(json()) ?? text() + "\n")
  }

  /// Ends the list. In text form, prints `summary`.
  mutating func endList(summary: String) {
    write(list?.tail ?? summary + "\n")
    list = nil
  }

  /// Ends a list after an error, so that the output is a valid document. A file is not created.
  mutating func cutList() {
    guard file == nil else { return }
    if form == .json, list != nil { endList(summary: "") }
    flush()
  }

  /// Writes a line of text without trailing blanks, truncated to the terminal's width.
  mutating func write(line: [UInt8]) {
    let end = line.lastIndex { $0 != UInt8(ascii: " ") }.map { $0 + 1 } ?? 0
    if view.width == nil {
      pending.append(contentsOf: line[..<end])
    } else {
      write(view.fitted(String(decoding: line[..<end], as: UTF8.self)))
    }
    write("\n")
  }

  /// Writes a line of text in bold, truncated to the terminal's width.
  mutating func write(heading: String) { write(view.heading(view.fitted(heading)) + "\n") }

  /// Writes bytes as they are.
  mutating func write(bytes: [UInt8]) {
    pending.append(contentsOf: bytes)
    if pending.count > 1 << 16 { flush() }
  }

  /// Writes the pending output.
  mutating func flush() {
    guard !pending.isEmpty else { return }
    if awaitsPager {
      awaitsPager = false
      if !fitsScreen { Pager.begin() }
    }
    if let file { write(to: file) } else { StandardStream.write(pending) }
    pending.removeAll(keepingCapacity: true)
  }

  private var fitsScreen: Bool {
    pending.count { $0 == UInt8(ascii: "\n") } < TerminalView.rows(of: STDOUT_FILENO) ?? 24
  }

  /// Writes the pending output and completes the file.
  mutating func finish() throws {
    flush()
    try file?.finish()
  }

  /// Writes the pending output to a file. Ends the program with a message if that fails.
  private func write(to file: OutputFile) {
    do throws(InspectError) { try file.write(pending) } catch {
      UnfinishedFile.removeAllOfThisProcess()
      error.end()
    }
  }

  private mutating func write(_ text: String) { write(bytes: Array(text.utf8)) }
}
