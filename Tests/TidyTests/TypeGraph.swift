/// A graph of the files in a target that use each other's top-level types, determined by the
/// spelling of their names. Doesn't include nested types and members of extensions.
struct TypeGraph {
  let files: [SourceFile]
  /// The indexes of the files whose types a file uses, for each file.
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

  /// The folders of the target that depend on each other, directly or indirectly.
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

  /// Returns the types that a source declares at the top level, with or without private ones.
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

  /// Returns the capitalized names in a source that are not members of others.
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

  /// Returns the strongly connected components with more than one node, the largest first.
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
