import Foundation

/// Reads bytes as JSON with every API, and checks invariants of any input.
///
/// - Reading a document in pieces yields the same values, positions and errors as reading it whole.
/// - Written values are read back as the same values, and written again as the same bytes.
/// - The fast accessors of a node agree with its value.
///
/// The first byte chooses the layout and the size of the pieces.
@_cdecl("LLVMFuzzerTestOneInput")
public func readJSON(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
  guard count > 0 else { return 0 }
  let data = Data(bytes: start + 1, count: count - 1)
  let chunk = 1 + Int(start[0] >> 2)
  switch start[0] & 3 {
  case 0: compareLines(data, chunk)
  case 1: compare(data, .member("seeds"), chunk)
  default: compare(data, .document, chunk)
  }
  return 0
}

private func compare(_ data: Data, _ layout: JSONItemReader.Layout, _ chunk: Int) {
  let pieces = outcome(of: data, layout, chunk)
  do throws(ArborError) {
    let root = try JSONDocument(data).root
    checkWriting(of: root.value)
    check(root)
    var value: JSONNode? = root
    if case .member(let path) = layout {
      guard case .object = root.kind else {
        precondition(pieces.error != nil, "Found a key in a value that is not an object.")
        return
      }
      value = root.descendant(path.names)
    }
    precondition(pieces.error == nil, "Only fails in pieces: \(pieces.error ?? "")")
    let items = value.map { $0.kind == .array ? Array($0.items) : [$0] } ?? []
    precondition(pieces.items == items.map(describe), "The items differ in pieces.")
  } catch {
    precondition(error.location != nil, "The error has no location.")
    if case .member = layout, pieces.error?.contains("The document is not an object") == true {
      return
    }
    precondition(
      pieces.error == "\(error.code) \(error)",
      "Whole: \(error); in pieces: \(pieces.error ?? "no error")")
  }
}

private func compareLines(_ data: Data, _ chunk: Int) {
  let pieces = outcome(of: data, .lines, chunk)
  // A byte order mark is ignored at the beginning of a document, but not on its other lines.
  let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
  let data = data.starts(with: mark) ? data.dropFirst(mark.count) : data
  var values: [String] = []
  for line in data.split(separator: UInt8(ascii: "\n")) {
    guard line.contains(where: { ![0x20, 0x09, 0x0D].contains($0) }) else { continue }
    guard let document = try? JSONDocument(line) else {
      precondition(pieces.error != nil, "An invalid line was read.")
      return
    }
    values.append("\(document.root.value)")
  }
  precondition(pieces.error == nil, "Valid lines were rejected: \(pieces.error ?? "")")
  precondition(pieces.values == values, "The lines differ in pieces.")
}

private func outcome(
  of data: Data, _ layout: JSONItemReader.Layout, _ chunk: Int
) -> (items: [String], values: [String], error: String?) {
  var rest = data
  let source = JSONByteSource { _ in
    defer { rest = rest.dropFirst(chunk) }
    return rest.prefix(chunk)
  }
  var reader = JSONItemReader(source, layout: layout, chunkSize: chunk)
  var items: [String] = []
  var values: [String] = []
  do throws(ArborError) {
    while let batch = try reader.next(1 + chunk % 5) {
      for item in batch.items {
        items.append(describe(item))
        values.append("\(item.value)")
      }
    }
    precondition(reader.position == data.count, "Reading ended before the end of the data.")
    return (items, values, nil)
  } catch {
    return (items, values, "\(error.code) \(error)")
  }
}

private func describe(_ node: JSONNode) -> String {
  "\(node.location) \(node.offset) \(node.value)"
}

private func checkWriting(of value: JSONValue) {
  for style in [JSONStyle.compact, .pretty] {
    let written = value.data(style)
    guard let again = try? JSONValue.parse(written) else {
      preconditionFailure("The written text cannot be parsed.")
    }
    precondition(again == value, "The written text parses to a different value.")
    precondition(again.hashValue == value.hashValue, "Equal values have different hashes.")
    precondition(again.data(style) == written, "The written text is not stable.")
  }
}

private func check(_ node: JSONNode) {
  if let number = node.number {
    precondition(node.int64 == number.int64, "The integers differ.")
    precondition(node.double?.bitPattern == number.double?.bitPattern, "The numbers differ.")
    _ = (number.decimal, number.uint64)
  }
  if let string = node.string { precondition(node.isText(string), "The strings differ.") }
  for element in node.items { check(element) }
  guard let members = node.members else { return }
  let found = JSONMembers(JSONKeyTable(members.map(\.key)))
  precondition(found.find(in: node) && found.unknownKeys.isEmpty, "A key was not found.")
  for (index, member) in members.enumerated() {
    precondition(found[index]?.offset == member.value.offset, "The members differ.")
    check(member.value)
  }
}
