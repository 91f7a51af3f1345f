/// Reads the items of a document in batches, whatever its length: the elements of a list, or lines.
///
/// As strict as ``JSONDocument``, with the same errors at the same places. In memory are, at a
/// time, one chunk of the document, its part of a tape and the largest item; of a document that is
/// no list, all of it. Paths are those of the whole document: `$[81234].hired`.
///
/// What was given before an error stays given: callers that need all or nothing undo it. A copy
/// of a reader reads from the same source, so use one or the other.
///
/// ```swift
/// var reader = JSONItemReader(try .file(url), named: url.path)
/// while let batch = try reader.next(1_000) {
///   for item in batch.items { try use(item) }
///   progress.report(reader.position, of: reader.size)
/// }
/// ```
package struct JSONItemReader {
  /// What the items of a document are.
  package enum Layout: Sendable, Hashable {
    /// The elements of a list, or the one value that the document is otherwise.
    case document
    /// The elements of the list that this path leads to, or the one value there. Other members on
    /// the way are checked and left out.
    case member(JSONMemberPath)
    /// The values of the members of the document's object; with a path, of the object that it
    /// leads to. Other members on the way are checked and left out.
    case values(of: JSONMemberPath?)
    /// The values on the lines, one each (NDJSON). Empty lines mean nothing.
    case lines
  }

  private enum State {
    case start
    case onlyValue
    /// Within the list of the items, or the object whose values they are.
    case elements(isContinued: Bool)
    /// Within the innermost of the ``levels``.
    case members(isContinued: Bool)
    case lines
    case end
  }

  /// An object or a list on the way to the items.
  private struct Level {
    let isObject: Bool
    /// What lies around it, with the key or index of the member that is being read.
    var surroundings: JSONScanner.Surroundings
    /// Its keys so far, and what is thrown behind it where one stands there twice.
    var keys: Set<String> = []
    var repeatedKey: ArborError?
  }

  /// What one look at the window brought.
  private enum Step {
    case batch(JSONBatch)
    case nothing
    case cut
    case refused(ArborError)
    case ended
  }

  private let name: String?
  private let layout: Layout
  private let limits: JSONLimits
  private let work: WorkLimit?
  private var window: JSONWindow
  private var state = State.start
  private var surroundings = JSONScanner.Surroundings()
  private var itemsRead = 0
  /// The objects and lists on the way to the items that have been opened, the innermost last.
  private var levels: [Level] = []
  /// Whether the items were found at the path's end, and not under the whole path as a key.
  private var isFoundByPath = false
  /// The keys of the items that are values of an object.
  private var itemKeys: Set<String> = []
  /// The memory that all of these keys take.
  private var keySize = 0
  private var failure: ArborError?
  /// The size of the last tape, from which that of the next is guessed.
  private var tapeSize = 0

  /// The number of bytes in the document, where its source knows.
  package let size: Int?
  /// Whether the items are elements of a list, or the values of an object where the layout says so;
  /// nil until the first is known, and where a document
  /// does not have the key that was asked for.
  package private(set) var isList: Bool?
  /// The name on the way to the items that led nowhere, and the keys that stand in its place; nil
  /// where the items were found.
  package private(set) var missingMember: (name: String, keys: Set<String>)?

  /// Whether something was found behind the document's value, which is an error.
  package private(set) var holdsMore = false
  /// Where the document begins, for errors that concern all of it.
  package var start: ArborError.SourceLocation {
    ArborError.SourceLocation(source: name, line: 1, column: 1, path: JSONPath().description)
  }

  /// The way to the items; nil where the document itself holds them.
  private var wantedMember: JSONMemberPath? {
    switch layout {
    case .member(let path), .values(of: let path?): path
    case .document, .lines, .values(of: nil): nil
    }
  }

  /// Whether items are the values of an object.
  private var areValues: Bool { if case .values = layout { true } else { false } }

  /// A reader that has read nothing yet.
  ///
  /// - Parameters:
  ///   - source: Where the bytes come from.
  ///   - name: The file or URL, for errors.
  ///   - layout: What the items are.
  ///   - limits: Depth of the document, and size of the largest item; the document itself may have
  ///     any size.
  ///   - chunkSize: The number of bytes to read at a time.
  ///   - work: What ends the reading before it is done; nil for nothing.
  package init(
    _ source: JSONByteSource, named name: String? = nil, layout: Layout = .document,
    limits: JSONLimits = JSONLimits(), chunkSize: Int = 1 << 20, work: WorkLimit? = nil
  ) {
    self.work = work
    self.name = name
    self.layout = layout
    self.limits = limits
    size = source.size
    window = JSONWindow(source, name: name, chunkSize: chunkSize)
  }

  /// The number of bytes behind which the next item is looked for.
  package var position: Int { window.position }

  /// The next items: at least one, at most as many as asked for, and no more than one chunk holds.
  ///
  /// - Returns: nil behind the last item, when the rest of the document has been checked as well.
  /// - Throws: ``ArborError`` `malformedDocument` with place and path, `limitExceeded`, or
  ///   `fileUnreadable`. A reader that has thrown throws the same again.
  package mutating func next(_ maximum: Int = .max) throws(ArborError) -> JSONBatch? {
    if let failure { throw failure }
    guard maximum > 0 else {
      stopProgram("A batch of \(maximum) items was requested. Request at least 1.")
    }
    do throws(ArborError) {
      while true {
        switch try step(maximum) {
        case .batch(let batch): return batch
        case .nothing: break
        case .cut: try window.refill()
        case .refused(let error): throw error
        case .ended: return nil
        }
      }
    } catch {
      failure = error
      throw error
    }
  }

  private mutating func step(_ maximum: Int) throws(ArborError) -> Step {
    let bytes = window.bytes
    return try bytes.withBuffer { bytes -> Result<Step, ArborError> in
      var scanner = JSONScanner(bytes, limits: limits, work: work)
      scanner.position = window.used
      scanner.surroundings = surroundings
      do throws(JSONFault) {
        let step = try scan(&scanner, maximum)
        window.used = scanner.position
        return .success(step)
      } catch {
        return .failure(self.error(for: error, scanner.pathOfFault(), in: bytes))
      }
    }.get()
  }

  private func error(
    for fault: JSONFault, _ path: JSONPath, in bytes: UnsafeRawBufferPointer
  ) -> ArborError {
    fault.error(at: window.origin.location(of: fault.offset, in: bytes, source: name), path: path)
  }

  private mutating func scan(
    _ scanner: inout JSONScanner, _ maximum: Int
  ) throws(JSONFault) -> Step {
    switch state {
    case .start: return try start(&scanner)
    case .onlyValue:
      guard try scanner.scanOnly(isFinal: window.isFinal) else { return .cut }
      state = .end
      return .batch(batch(scanner, .value, only: 0))
    case .elements(let isContinued):
      return try elements(&scanner, maximum, isContinued: isContinued)
    case .members(let isContinued): return try member(&scanner, isContinued: isContinued)
    case .lines:
      scanner.tape.entries.reserveCapacity(tapeSize)
      let stop = try scanner.scanLines(upTo: maximum, isFinal: window.isFinal)
      tapeSize = scanner.tape.entries.count
      let batch = batch(scanner, .lines)
      if case .closed = stop { state = .end }
      if !batch.items.isEmpty { return .batch(batch) }
      if case .cut = stop { return .cut }
      return .nothing
    case .end:
      scanner.skipSpace()
      guard scanner.position == scanner.bytes.count else {
        holdsMore = true
        throw JSONFault(.trailingContent, at: scanner.position)
      }
      return window.isFinal ? .ended : .cut
    }
  }

  private mutating func elements(
    _ scanner: inout JSONScanner, _ maximum: Int, isContinued: Bool
  ) throws(JSONFault) -> Step {
    scanner.tape.entries.reserveCapacity(tapeSize)
    let stop = try scanner.scanElements(
      upTo: maximum, ofObject: areValues, isContinued: isContinued, isFinal: window.isFinal)
    tapeSize = scanner.tape.entries.count
    let batch = batch(scanner, areValues ? .value : .elements(from: surroundings.firstIndex))
    if areValues, let repeated = try rememberItems(batch, scanner) { return .refused(repeated) }
    surroundings.firstIndex += batch.items.count
    state = .elements(isContinued: surroundings.firstIndex > 0)
    if case .closed = stop { closeList() }
    if !batch.items.isEmpty { return .batch(batch) }
    if case .cut = stop { return .cut }
    return .nothing
  }
}

extension JSONItemReader {
  private mutating func start(_ scanner: inout JSONScanner) throws(JSONFault) -> Step {
    let bytes = scanner.bytes
    if window.position == 0 {
      guard bytes.count >= 3 || window.isFinal else { return .cut }
      if JSONScanner.hasByteOrderMark(bytes) {
        scanner.position = JSONScanner.byteOrderMark.count
        window.skipByteOrderMark()
      }
    }
    if case .lines = layout {
      isList = true
      state = .lines
      return .nothing
    }
    scanner.skipSpace()
    guard scanner.position < bytes.count else {
      guard window.isFinal else { return .cut }
      throw JSONFault(.empty, at: scanner.position)
    }
    let first = bytes[scanner.position]
    if let wantedMember {
      let isList = first == UInt8(ascii: "[") && JSONMemberPath.index(wantedMember.names[0]) != nil
      guard isList || first == UInt8(ascii: "{") else {
        throw JSONFault(.noObject(key: wantedMember.text), at: scanner.position)
      }
      scanner.position += 1
      open(isObject: !isList, in: JSONScanner.Surroundings())
      return .nothing
    }
    isList = first == (areValues ? UInt8(ascii: "{") : UInt8(ascii: "["))
    if isList == true {
      scanner.position += 1
      state = .elements(isContinued: false)
    } else {
      state = .onlyValue
    }
    return .nothing
  }

  /// Goes on within an object or a list on the way to the items.
  private mutating func open(isObject: Bool, in surroundings: JSONScanner.Surroundings) {
    levels.append(Level(isObject: isObject, surroundings: surroundings))
    self.surroundings = surroundings
    state = .members(isContinued: false)
  }

  /// What a part of the innermost level is on the way to the items.
  private enum Part {
    case items
    case level
    case other
  }

  private func part(_ key: String?) -> Part {
    guard let path = wantedMember, isList == nil else { return .other }
    if levels.count == 1, let key, key == path.wholeKey { return .items }
    let name = path.names[levels.count - 1]
    let isOnTheWay =
      key.map { $0 == name } ?? (JSONMemberPath.index(name) == surroundings.firstIndex)
    guard isOnTheWay else { return .other }
    return levels.count == path.names.count ? .items : .level
  }

  /// Reads a part of the innermost level.
  private mutating func member(
    _ scanner: inout JSONScanner, isContinued: Bool
  ) throws(JSONFault) -> Step {
    let level = levels.count - 1
    let isObject = levels[level].isObject
    let bracket = areValues ? UInt8(ascii: "{") : UInt8(ascii: "[")
    var found = Part.other
    var opensObject = false
    let hasPart = try scanner.scanPart(
      ofObject: isObject, isContinued: isContinued, isFinal: window.isFinal
    ) { key, first in
      found = part(key)
      opensObject = first == UInt8(ascii: "{")
      switch found {
      case .items: return first == bracket
      case .level: return opensObject || first == UInt8(ascii: "[")
      case .other: return false
      }
    }
    guard let hasPart else { return .cut }
    guard hasPart else { return close() }
    // The root and the key.
    let valueIndex = isObject ? 2 : 1
    var inner = surroundings
    inner.lastKey = nil
    inner.firstIndex = 0
    inner.depth = levels.count
    if isObject {
      let key = scanner.tape.text(of: 1, in: scanner.bytes)
      if let repeated = try remember(
        key, at: 1, scanner, isNew: { $0.levels[level].keys.insert(key).inserted }),
        levels[level].repeatedKey == nil
      {
        levels[level].repeatedKey = repeated
      }
      if level == 0, isFoundByPath, key == wantedMember?.wholeKey {
        return .refused(
          error(
            for: JSONFault(.ambiguousPath(key), at: scanner.position), surroundings.path,
            in: scanner.bytes))
      }
      surroundings.lastKey = key
      inner.path.append(key: key)
    } else {
      inner.path.append(index: surroundings.firstIndex)
      surroundings.firstIndex += 1
    }
    levels[level].surroundings = surroundings
    state = .members(isContinued: true)
    let isStopped = scanner.tape.entries.count == valueIndex
    switch found {
    case .other: return .nothing
    case .level:
      if isStopped { open(isObject: opensObject, in: inner) }
      return .nothing
    case .items:
      isList = isStopped
      isFoundByPath = levels.count == wantedMember?.names.count && wantedMember?.wholeKey != nil
      missingMember = nil
      guard isStopped else { return .batch(batch(scanner, .value, only: valueIndex)) }
      surroundings = inner
      state = .elements(isContinued: false)
      return .nothing
    }
  }

  /// Goes on behind the innermost level.
  private mutating func close() -> Step {
    let closed = levels.removeLast()
    if isList == nil, missingMember == nil, let path = wantedMember {
      missingMember = (path.names[levels.count], closed.keys)
    }
    surroundings = levels.last?.surroundings ?? JSONScanner.Surroundings()
    state = levels.isEmpty ? .end : .members(isContinued: true)
    return closed.repeatedKey.map(Step.refused) ?? .nothing
  }

  /// Notes a key. As in a document that is read as one, a key that stands in an object twice is
  /// reported when all of the object has been read.
  ///
  /// - Parameter isNew: Enters the key, and tells whether it was not there before.
  /// - Returns: The error for a key that was met before.
  private mutating func remember(
    _ key: String, at index: Int, _ scanner: JSONScanner,
    isNew: (inout JSONItemReader) -> Bool
  ) throws(JSONFault) -> ArborError? {
    let start = Int(scanner.tape.entries[index].start)
    keySize += key.utf8.count + MemoryLayout<String>.stride
    guard keySize <= limits.size else {
      throw JSONFault(.itemTooLarge(limit: limits.size), at: start)
    }
    guard !isNew(&self) else { return nil }
    var path = surroundings.path
    path.append(key: key)
    return error(for: JSONFault(.duplicateKey, at: start), path, in: scanner.bytes)
  }

  /// Notes the keys of items: within a batch the scanner finds those that stand there twice, among
  /// batches nobody else does.
  ///
  /// - Returns: The error for the first key that was met before.
  private mutating func rememberItems(
    _ batch: JSONBatch, _ scanner: JSONScanner
  ) throws(JSONFault) -> ArborError? {
    for item in batch.items {
      let index = item.tapeIndex - 1
      let key = scanner.tape.text(of: index, in: scanner.bytes)
      let repeated = try remember(key, at: index, scanner) { $0.itemKeys.insert(key).inserted }
      if let repeated { return repeated }
      surroundings.lastKey = key
    }
    return nil
  }

  /// Goes on behind the list.
  private mutating func closeList() {
    surroundings = levels.last?.surroundings ?? JSONScanner.Surroundings()
    state = levels.isEmpty ? .end : .members(isContinued: true)
  }

  private mutating func batch(
    _ scanner: JSONScanner, _ root: JSONOrigin.Root, only value: Int? = nil
  ) -> JSONBatch {
    var origin = window.origin
    origin.path = surroundings.path
    origin.root = root
    let document = JSONDocument(window.bytes, source: name, tape: scanner.tape, origin: origin)
    let items =
      value.map { JSONElements(only: $0, in: document) } ?? JSONElements(of: 0, in: document)
    defer { itemsRead += items.count }
    return JSONBatch(items: items, firstIndex: itemsRead)
  }
}
