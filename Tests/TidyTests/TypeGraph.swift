/// Which files of a target use types that others declare: names of types at top level, by their
/// spelling. Types within types, and members that extensions add, are not seen.
struct TypeGraph {
  let files: [SourceFile]
  /// Of each file the indexes of those whose types it uses.
  let uses: [Set<Int>]

  init(_ files: [SourceFile]) {
    self.files = files
    var owners: [String: Set<Int>] = [:]
    for (index, file) in files.enumerated() {
      for name in Self.declaredTypes(in: file.code) { owners[name, default: []].insert(index) }
    }
    uses = files.enumerated().map { index, file in
      var used: Set<Int> = []
      let own = Self.declaredTypes(in: file.code, countingPrivate: true)
      for name in Self.typeNames(in: file.code).subtracting(own) {
        used.formUnion(owners[name] ?? [])
      }
      return used.subtracting([index])
    }
  }

  /// The folders of the target that use each other's types, over however many others.
  var folderKnots: [[String]] {
    let folders = files.map { $0.path.split(separator: "/").dropLast().dropFirst(2).first ?? "" }
    let names = Set(folders).sorted()
    var graph = [Set<Int>](repeating: [], count: names.count)
    for (file, used) in uses.enumerated() {
      guard let from = names.firstIndex(of: folders[file]) else { continue }
      for other in used {
        if let to = names.firstIndex(of: folders[other]) { graph[from].insert(to) }
      }
    }
    return Self.knots(graph).map { knot in knot.map { String(names[$0]) }.sorted() }
  }

  /// The types that a source declares at top level: those for other files, or all of them.
  static func declaredTypes(in code: String, countingPrivate: Bool = false) -> Set<String> {
    let kinds: Set<Substring> = ["struct", "class", "enum", "protocol", "actor", "typealias"]
    var modifiers: Set<Substring> = [
      "public", "package", "internal", "open", "final", "indirect", "nonisolated",
    ]
    if countingPrivate { modifiers.formUnion(["private", "fileprivate"]) }
    var names: Set<String> = []
    for line in code.split(separator: "\n") where line.first != " " {
      let words = line.split(separator: " ").drop { modifiers.contains($0) || $0.hasPrefix("@") }
      guard let kind = words.first, kinds.contains(kind), let name = words.dropFirst().first else {
        continue
      }
      names.insert(String(name.prefix { $0.isLetter || $0.isNumber || $0 == "_" }))
    }
    return names
  }

  /// The capitalized names of a source that are no members of others.
  static func typeNames(in code: String) -> Set<String> {
    let bytes = Array(code.utf8)
    var names: Set<String> = []
    var index = 0
    while index < bytes.count {
      guard isWord(bytes[index]) else {
        index += 1
        continue
      }
      let start = index
      while index < bytes.count, isWord(bytes[index]) { index += 1 }
      let isMember = start > 0 && bytes[start - 1] == UInt8(ascii: ".")
      if !isMember, (0x41...0x5A).contains(bytes[start]) {
        names.insert(String(decoding: bytes[start..<index], as: UTF8.self))
      }
    }
    return names
  }

  private static func isWord(_ byte: UInt8) -> Bool {
    byte == 0x5F || (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte)
      || (0x61...0x7A).contains(byte)
  }

  /// The strongly connected components of more than one node, the largest first: two nodes are in
  /// one where each can be reached from the other.
  static func knots(_ graph: [Set<Int>]) -> [[Int]] {
    let reached = graph.indices.map { start in
      var found = graph[start]
      var rest = Array(found)
      while let next = rest.popLast() {
        for node in graph[next] where found.insert(node).inserted { rest.append(node) }
      }
      return found
    }
    var placed: Set<Int> = []
    var knots: [[Int]] = []
    for node in graph.indices where !placed.contains(node) {
      let knot = reached[node].filter { reached[$0].contains(node) }.union([node])
      placed.formUnion(knot)
      if knot.count > 1 { knots.append(knot.sorted()) }
    }
    return knots.sorted { $0.count > $1.count }
  }
}
