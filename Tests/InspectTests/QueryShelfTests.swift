import ArborData
import Foundation
import TestSupport
import Testing

/// The model's fetch requests, and the queries that a user keeps.
@Suite struct QueryShelfTests {
  private let office: OfficeStore
  private let home: TemporaryFolder
  private var path: String { office.url.path }
  private var variables: [String: String] {
    ["XDG_CONFIG_HOME": home.path("config"), "XDG_STATE_HOME": home.path("state")]
  }

  init() throws {
    office = try OfficeStore()
    home = try TemporaryFolder()
  }

  private func run(_ arguments: String...) throws -> BuiltProgram.Outcome {
    try Inspection.program.run(
      [arguments[0], path] + arguments.dropFirst(), environment: variables)
  }

  /// The only file below a folder of the user.
  private func file(in folder: String) throws -> String {
    let names = try FileManager.default.subpathsOfDirectory(atPath: home.path(folder))
      .filter { $0.hasSuffix(".json") }
    try #require(names.count == 1, "\(names)")
    return home.path(folder) + "/" + names[0]
  }

  private func makeRequests() throws -> String {
    let url = home.url.appending(path: "Requests.arbor")
    let model = try ManagedObjectModel {
      EntityDescription("Item") {
        AttributeDescription("name", .string, .default(""))
        AttributeDescription("count", .integer32, .default(1))
        AttributeDescription("made", .date, .optional)
        AttributeDescription("isOpen", .boolean, .default(true))
        RelationshipDescription("parts", to: "Item", inverse: "whole", .toMany)
        RelationshipDescription("whole", to: "Item", inverse: "parts")
      }
      FetchRequestTemplate("named", entity: "Item", predicate: "name == $name")
      FetchRequestTemplate(
        "between", entity: "Item", predicate: "count BETWEEN {$low, $high} AND isOpen == $open")
      FetchRequestTemplate("among", entity: "Item", predicate: "count IN $counts")
      FetchRequestTemplate("since", entity: "Item", predicate: "$start <= made")
      FetchRequestTemplate("of", entity: "Item", predicate: "whole == $whole")
      FetchRequestTemplate("large", entity: "Item", predicate: "parts.@count > $parts")
      FetchRequestTemplate("two", entity: "Item", limit: 2)
    }
    let store = try PersistentStore(model: model, at: .file(url))
    defer { store.close() }
    let context = store.makeContext()
    var first: ManagedObject?
    for number in 1...4 {
      let item = try context.insert("Item")
      item["count"] = number
      item["name"] = "\(number)"
      item["made"] = Date(timeIntervalSince1970: Double(number) * 86400)
      if number > 1 { item["whole"] = first }
      if number == 1 { first = item }
    }
    try context.commit()
    return url.path
  }

  /// A value is of the type of the property that its variable is compared with.
  @Test(
    "Values for a request are converted to the types of its properties",
    arguments: [
      // Text of digits is a string here, and a number there.
      ("named --set name=2", "2"), ("between --set low=2 --set $high=3 --set open=true", "2 3"),
      ("between --set low=2 --set high=3 --set open=FALSE", ""),
      ("among --set counts=1,4", "1 4"), ("since --set start=1970-01-04T00:00:00Z", "3 4"),
      ("of --set whole=Item/1", "2 3 4"), ("large --set parts=2", "1"),
      ("two --sort -count", "4 3"), ("two --sort count --limit 1", "1"),
    ])
  func requestsTakeTypedValues(_ request: String, _ names: String) throws {
    let store = try makeRequests()
    let words = request.split(separator: " ").map(String.init)
    let outcome = try Inspection.program.run(
      ["query", store, "--request"] + words + ["--columns", "name", "--csv"]
        + (words.contains("--sort") ? [] : ["--sort", "count"]))
    #expect(outcome.status == 0, "\(outcome.errors)")
    #expect(
      outcome.output.split(separator: "\n").dropFirst().joined(separator: " ") == names)
    #expect(try Inspection.program.run(["explain", store, "--request"] + words).status == 0)
  }

  @Test(
    "Missing and unknown values for a request are reported",
    arguments: [
      (
        "nothing",
        "has no fetch request named nothing. Its fetch requests are among, between, large, "
      ),
      ("between --set low=1", "no value for $high, $open. Add --set high=42 --set open=true."),
      ("named --set nam=1", "has no variable $nam. Its variables are $name."),
      ("two --set x=1", "has no variable $x. It has no variables."),
      ("among --set counts=1,b", "“1,b” is not a valid value for $counts of the request among. "),
      ("since --set start=today", "Expected a date, such as 2026-01-31T12:00:00Z."),
      ("of --set whole=Nobody/1", "Expected an object, such as Entity/number."),
      ("named --set name", "Write it as name=value."),
    ])
  func requestsSayWhatIsMissing(_ request: String, _ message: String) throws {
    let store = try makeRequests()
    let outcome = try Inspection.program.run(
      ["query", store, "--request"] + request.split(separator: " ").map(String.init))
    #expect(outcome.status == 1 && outcome.output.isEmpty, "\(outcome)")
    #expect(outcome.errors.contains(message), "\(outcome.errors)")
  }

  @Test(
    "Options that contradict each other are refused",
    arguments: [
      ["query"], ["query", "Employee", "--request", "elders"],
      ["query", "Employee", "--set", "x=1"],
      ["query", "--request", "elders", "--named", "x"],
      ["query", "--request", "elders", "--save", "x"],
    ])
  func namesThatContradict(_ arguments: [String]) throws {
    let outcome = try Inspection.program.run([arguments[0], path] + arguments.dropFirst())
    #expect(outcome.status == 64, "\(outcome)")
  }

  @Test("Saved queries are run by name")
  func savedQueriesAreRunByName() throws {
    let saved = try run(
      "query", "Employee", "age > 40", "--sort", "-age", "--columns", "name", "--save", "old")
    #expect(saved.output == "name\n\"Grace\"\n\"Edsger\"\n2 rows\n", "\(saved)")
    #expect(try run("query", "--named", "old").output == saved.output)
    #expect(
      try run("query", "--named", "old", "--limit", "1", "--sort", "age").output
        == "name\n\"Edsger\"\n1 row\n")
    #expect(
      try run("queries").output == """
        kind     name    query
        request  elders  Employee 'age > 40'
        saved    old     Employee 'age > 40' --sort -age --columns name

        """)
    let unknown = try run("query", "--named", "od")
    #expect(unknown.status == 1 && unknown.errors.contains("no query “od”. Did you mean old?"))
    let kept = try file(in: "config")
    let attributes = try FileManager.default.attributesOfItem(atPath: kept)
    #expect(attributes[.posixPermissions] as? Int == 0o600)
    #expect(try run("queries", "--remove", "old").output.contains("old") == false)
    #expect(try run("queries", "--remove", "old").status == 1)
    // A failed query is not saved.
    #expect(try run("query", "Employee", "agee > 1", "--save", "bad").status == 1)
    #expect(try !run("queries").output.contains("bad"))
    // Nothing was typed in a terminal.
    #expect(!FileManager.default.fileExists(atPath: home.path("state")))
  }

  @Test("The last queries in a terminal are kept")
  func theLastQueriesOfATerminalAreKept() throws {
    for predicate in ["age > 1", "age > 2", "age > 1"] {
      let terminal = try PseudoTerminal(
        Inspection.program.executable, ["query", path, "Employee", predicate],
        environment: variables)
      #expect(terminal.waitForEnd() == 0)
    }
    let kept = try file(in: "state")
    let attributes = try FileManager.default.attributesOfItem(atPath: kept)
    #expect(attributes[.posixPermissions] as? Int == 0o600)
    let lines = try run("queries", "--csv").output.split(separator: "\n")
    #expect(lines.suffix(2) == ["last,,Employee 'age > 1'", "last,,Employee 'age > 2'"])
    #expect(try !run("queries", "--forget").output.contains("last"))
    #expect(!FileManager.default.fileExists(atPath: kept))
  }

  @Test("A query for groups is saved with its condition, and equal rows are printed once")
  func groupsAndDistinctRowsAreSaved() throws {
    let saved = try run(
      "query", "Employee", "--group", "isActive", "--having", "@count > 2", "--save", "many")
    #expect(saved.output == "isActive  count\ntrue      3\n1 row\n", "\(saved)")
    #expect(try run("query", "--named", "many").output == saved.output)
    #expect(
      try run("query", "--named", "many", "--having", "@count > 3").output.hasSuffix("0 rows\n"))
    let distinct = try run("query", "Employee", "--columns", "rate", "--distinct", "--save", "one")
    #expect(distinct.output == "rate\n0.5\n1 row\n", "\(distinct)")
    let list = try run("queries").output
    #expect(list.contains("Employee --group isActive --having '@count > 2'\n"), "\(list)")
    #expect(list.contains("Employee --columns rate --distinct\n"), "\(list)")
  }

  @Test("The terminal browser asks for variables, and respects limits, columns and groups")
  func theTerminalBrowserRunsWholeQueries() throws {
    let store = try makeRequests()
    let saving = [
      ["Item", "--group", "isOpen", "--save", "grouped"],
      [
        "Item", "count > 0", "--columns", "name,count", "--sort=-count", "--limit", "3", "--save",
        "top",
      ],
    ]
    for arguments in saving {
      let outcome = try Inspection.program.run(
        ["query", store] + arguments, environment: variables)
      #expect(outcome.status == 0, "\(outcome)")
    }
    let terminal = try PseudoTerminal(
      Inspection.program.executable, ["browse", store], rows: 14, columns: 90,
      environment: variables)
    terminal.wait { $0.lines.contains { $0.hasSuffix("Item") } }
    let (down, enter, escape) = ("\u{1B}[B", "\r", "\u{1B}")
    terminal.press("o")
    terminal.wait { $0.lines[0] == "Queries · 9" }
    terminal.press(down + enter)
    terminal.wait { $0.bottom == "$high, an integer:" }
    terminal.press("x" + enter)
    terminal.wait { $0.lines[12].contains("“x” is not a valid value for $high") }
    terminal.press("\u{15}3" + enter)
    terminal.wait { $0.bottom == "$low, an integer:" }
    terminal.press("2" + enter)
    terminal.wait { $0.bottom == "$open, a Boolean:" }
    terminal.press("true" + enter)
    var screen = terminal.wait { $0.lines[0].hasSuffix(" · 2 objects") }
    #expect(screen.lines[2...3].map { $0.prefix(6) } == ["Item/2", "Item/3"], "\(screen.lines)")
    terminal.press(escape)
    terminal.wait { $0.lines[0] == "Queries · 9" }
    terminal.press(String(repeating: down, count: 5) + enter)
    screen = terminal.wait { $0.lines[0] == "Item, the first 2 · 2 objects" }
    #expect(screen.lines[0] == "Item, the first 2 · 2 objects", "\(screen.lines)")
    // A query that is only sorted is among the last ones.
    terminal.press("s-count" + enter)
    screen = terminal.wait { $0.lines[0] == "Item by -count, the first 2 · 2 objects" }
    #expect(screen.lines[2...3].map { $0.prefix(6) } == ["Item/4", "Item/3"], "\(screen.lines)")
    terminal.press(escape)
    terminal.wait { $0.lines[0] == "Queries · 9" }
    terminal.press(down + enter)
    screen = terminal.wait { $0.lines[0] == "Item · 1 row" }
    #expect(screen.lines[1...2] == ["isOpen  count", "true        4"], "\(screen.lines)")
    terminal.press(escape)
    terminal.wait { $0.lines[0] == "Queries · 9" }
    terminal.press(down + enter)
    screen = terminal.wait { $0.lines[0] == "Item where count > 0 by -count, the first 3 · 3 rows" }
    #expect(screen.lines[1...2] == ["name  count", "\"4\"       4"], "\(screen.lines)")
    terminal.press(enter)
    terminal.wait { $0.lines[0].hasPrefix("Item/4, version") }
    terminal.press("q")
    #expect(terminal.waitForEnd() == 0)
    let list = try Inspection.program.run(["queries", store, "--csv"], environment: variables)
    #expect(list.output.hasSuffix("last,,Item --sort -count --limit 2\n"), "\(list.output)")
  }

  @Test(
    "What lies in the user's folder is reported and ignored if it cannot be used",
    arguments: ["text", "list", "large", "shared", "pipe", "folder"])
  func unusableFilesAreIgnored(_ kind: String) throws {
    #expect(try run("query", "Employee", "--save", "all").status == 0)
    let kept = try file(in: "config")
    let manager = FileManager.default
    if kind != "shared" { try manager.removeItem(atPath: kept) }
    switch kind {
    case "text": try Data("{\"all\": {\"entity\"".utf8).write(to: URL(filePath: kept))
    case "list": try Data("[1]".utf8).write(to: URL(filePath: kept))
    case "large": try Data(count: 2 << 20).write(to: URL(filePath: kept))
    case "shared": try manager.setAttributes([.posixPermissions: 0o666], ofItemAtPath: kept)
    case "pipe": #expect(mkfifo(kept, 0o600) == 0)
    default: try manager.createDirectory(atPath: kept, withIntermediateDirectories: false)
    }
    let list = try run("queries")
    #expect(list.status == 0 && list.output.contains("elders"), "\(list)")
    #expect(list.errors.hasPrefix("lmdb-inspect: \(kept) cannot be used: "), "\(list)")
    #expect(list.errors.hasSuffix("The file is ignored.\n"))
    #expect(try run("query", "Employee").errors.isEmpty)
    // It is not overwritten.
    #expect(try run("query", "Employee", "--save", "new").status == 2)
  }

  @Test("Names and predicates of a hostile file don't reach the terminal")
  func hostileQueriesAreShownNotObeyed() throws {
    #expect(try run("query", "Employee", "--save", "x").status == 0)
    let text = """
      {"a\\u001b[2J": {"entity": "Employee", "predicate": "x'\\u202e\\n", "sort": [], \
      "columns": [], "group": []}}
      """
    let kept = try file(in: "config")
    try Data(text.utf8).write(to: URL(filePath: kept))
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: kept)
    let list = try run("queries")
    #expect(list.status == 0 && list.errors.isEmpty, "\(list)")
    #expect(list.output.contains("a\\u{1B}[2J  Employee 'x'\\''\\u{202E}\\n'"), "\(list.output)")
  }
}
