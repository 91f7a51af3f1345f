import Foundation
import TestSupport
import Testing

/// The completion scripts, each in its shell.
@Suite("Completion scripts") struct CompletionTests {
  /// A line, and what the Tab key adds to it.
  private typealias Completion = (line: String, added: String)

  private let folder: TemporaryFolder
  private let office: OfficeStore

  init() throws {
    folder = try TemporaryFolder()
    office = try OfficeStore()
  }

  private func writeScript(for shell: String, to name: String) throws -> URL {
    let script = try Inspection.program.run(["--generate-completion-script", shell])
    #expect(script.status == 0)
    let file = folder.url.appending(path: name)
    try Data(script.output.utf8).write(to: file)
    return file
  }

  @Test("The script for bash completes verbs, options, entities and properties")
  func bashCompletes() throws {
    let file = try writeScript(for: "bash", to: "completion")
    func completions(_ words: String...) throws -> Set<Substring> { try completions(words) }
    func completions(_ words: [String]) throws -> Set<Substring> {
      let list = words.map { "'\($0)'" }.joined(separator: " ")
      let outcome = try BuiltProgram(at: URL(filePath: "/bin/bash")).run([
        "-c",
        """
        source '\(file.path)'
        PATH="$(dirname '\(Inspection.program.executable.path)'):$PATH"
        COMP_WORDS=(\(list)); COMP_CWORD=\(words.count - 1); COMP_LINE="${COMP_WORDS[*]}"
        COMP_POINT=${#COMP_LINE}; COMP_TYPE=9
        f=$(complete -p lmdb-inspect | sed 's/.*-F \\([^ ]*\\).*/\\1/')
        "$f" lmdb-inspect "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD-1]}"
        printf '%s\\n' "${COMPREPLY[@]}"
        """,
      ])
      #expect(outcome.errors.isEmpty, "\(outcome.errors)")
      return Set(outcome.output.split(separator: "\n"))
    }
    #expect(try completions("lmdb-inspect", "ex") == ["explain"])
    #expect(try completions("lmdb-inspect", "space", "--s").contains("--svg"))
    #expect(try completions("lmdb-inspect", "info", "\(folder.path("comp"))") == ["\(file.path)"])
    // The names are those of the store that the line names.
    let query = ["lmdb-inspect", "query", office.url.path]
    #expect(try completions(query + ["E"]) == ["Employee"])
    #expect(
      try completions(["lmdb-inspect", "count", office.url.path, "P"]) == ["Person", "Project"])
    #expect(try completions(query + ["Employee", "--sort", "na"]) == ["name"])
    #expect(try completions(query + ["Office", "--columns", "city,em"]) == ["city,employees"])
    #expect(try completions(["lmdb-inspect", "query", file.path, "E"]).isEmpty)
  }

  @Test(
    "The script for zsh completes verbs, options, entities and properties",
    .enabled(if: Shell.zsh.isInstalled, "zsh isn't installed"))
  func zshCompletes() throws {
    _ = try writeScript(for: "zsh", to: "_lmdb-inspect")
    let setup = """
      fpath=($FOLDER $fpath)
      autoload -Uz compinit
      compinit -D -u
      setopt no_beep
      keep() { print -r -- "$BUFFER" > $FOLDER/new; mv $FOLDER/new $FOLDER/line; BUFFER= }
      zle -N keep
      bindkey '^X' keep
      precmd() { print > $FOLDER/ready }
      """
    try Data(setup.utf8).write(to: folder.url.appending(path: ".zshrc"))
    // In fish, a word with a minus sign is an option.
    try check(
      .zsh, ["-d", "-i"], also: ("query \(office.url.path) Employee --sort -na", "me "))
  }

  @Test(
    "The script for fish completes verbs, options, entities and properties",
    .enabled(if: Shell.fish.isInstalled, "fish isn't installed"))
  func fishCompletes() throws {
    let file = try writeScript(for: "fish", to: "completion")
    let setup = """
      source '\(file.path)'
      function keep
        commandline > $FOLDER/new
        mv $FOLDER/new $FOLDER/line
        commandline ''
      end
      bind \\cx keep
      function fish_prompt
        echo > $FOLDER/ready
      end
      """
    try check(.fish, ["--no-config", "-i", "-C", setup])
  }

  private enum Shell: String {
    case zsh, fish

    var executable: URL { URL(filePath: "/usr/bin/\(rawValue)") }
    var isInstalled: Bool { FileManager.default.isExecutableFile(atPath: executable.path) }
  }

  /// Completes lines in an interactive shell, in which Control-X writes the line to a file.
  private func check(
    _ shell: Shell, _ arguments: [String], also further: Completion...
  ) throws {
    let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
    let tools = Inspection.program.executable.deletingLastPathComponent().path
    let terminal = try PseudoTerminal(
      shell.executable, arguments, columns: 400,
      environment: [
        "PATH": "\(tools):\(path)", "FOLDER": folder.url.path, "ZDOTDIR": folder.url.path,
        "HOME": folder.url.path,
      ])
    func contents(of name: String) throws -> String {
      let file = folder.url.appending(path: name)
      terminal.wait { _ in FileManager.default.fileExists(atPath: file.path) }
      defer { try? FileManager.default.removeItem(at: file) }
      return try String(contentsOf: file, encoding: .utf8)
    }
    _ = try contents(of: "ready")
    let store = office.url.path
    try Data().write(to: folder.url.appending(path: "sample"))
    let completions: [Completion] = [
      ("ex", "plain "), ("space --sv", "g "), ("info \(folder.path("sam"))", "ple "),
      ("query \(store) Em", "ployee "), ("count \(store) Pe", "rson "),
      ("query \(store) Employee --sort na", "me "),
      ("query \(store) Office --columns city,em", "ployees "),
    ]
    for (line, added) in completions + further {
      terminal.press("lmdb-inspect \(line)\t\u{18}")
      let completed = try contents(of: "line")
      #expect(completed == "lmdb-inspect \(line)\(added)\n")
    }
    terminal.press("exit\r")
    #expect(terminal.waitForEnd() == 0)
  }
}
