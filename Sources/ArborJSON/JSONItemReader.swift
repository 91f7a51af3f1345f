/// Reads the items of a document of any length in batches: the elements of an array, or lines.
///
/// Validation is as strict as that of ``JSONDocument``, with the same errors at the same locations.
/// Memory use is bounded by one chunk of the document, its tape and the largest item; a document
/// that is not an array is held completely. Paths refer to the whole document: `$[81234].hired`.
///
/// Batches returned before an error remain valid: callers that need all or nothing must undo them.
/// A copy of a reader shares its source, so use only one of the two.
///
/// ```swift
/// var reader = JSONItemReader(try .file(url), named: url.path)
/// while let batch = try reader.next(1_000) {
///   for item in batch.items { try use(item) }
///   progress.report(reader.position, of: reader.size)
/// }
/// ```
package struct JSONItemReader {
  /// The location of the items in a document.
  package enum Layout: Sendable, Hashable {
    /// The elements of the top-level array, or the top-level value if it is not an array.
    case document
    /// The elements of the array at this path, or the value there if it is not an array. Other
    /// members along the path are validated and skipped.
    case member(JSONMemberPath)
    /// The values of the members of the top-level object, or of the object at the path. Other
    /// members along the path are validated and skipped.
    case values(of: JSONMemberPath?)
    /// The values on separate lines (NDJSON). Empty lines are ignored.
    case lines
  }

  private enum State {
    case start
    case onlyValue
    /// Within the array of items, or the object whose values are the items.
    case elements(isContinued: Bool)
    /// Within the innermost of ``levels``.
    case members(isContinued: Bool)
    case lines
    case end
  }

  /// An object or an array along the path to the items.
  private struct Level {
    let isObject: Bool
    /// The enclosing path, with the key or index of the member that is being read.
    var surroundings: JSONScanner.Surroundings
    /// The keys read so far.
    var keys: Set<String> = []
    /// The error to throw at the end of the object if a key is repeated, otherwise `nil`.
    var repeatedKey: ArborError?
  }

  /// The result of scanning the window once.
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
  /// The open objects and arrays along the path to the items, the innermost last.
  private var levels: [Level] = []
  /// Whether the items were found by following the path rather than under the whole path as a key.
  private var isFoundByPath = false
  /// The keys of the items, if they are values of an object.
  private var itemKeys: Set<String> = []
  /// The approximate memory used by the keys of all levels and of the items, in bytes.
  private var keySize = 0
  private var failure: ArborError?
  /// The number of entries of the last tape, used as an estimate for the next.
  private var tapeSize = 0

  /// The size of the document in bytes, if known.
  package let size: Int?
  /// Whether the items are elements of an array, or the values of an object if the layout requests
  /// them. `nil` until the first item is known, and if the document doesn't have the requested key.
  package private(set) var isList: Bool?
  /// The name in the path that doesn't exist, and the keys that exist in its place, or `nil` if the
  /// items were found.
  package private(set) var missingMember: (name: String, keys: Set<String>)?

  /// Whether content follows the document's value, which is an error.
  package private(set) var holdsMore = false
  /// The start of the document, for errors that concern all of it.
  package var start: ArborError.SourceLocation {
    ArborError.SourceLocation(source: name, line: 1, column: 1, path: JSONPath().description)
  }

  /// The path to the items, or `nil` if they are at the top level.
  private var wantedMember: JSONMemberPath? {
    switch layout {
    case .member(let path), .values(of: let path?): path
    case .document, .lines, .values(of: nil): nil
    }
  }

  /// Whether the items are the values of an object.
  private var areValues: Bool { if case .values = layout { true } else { false } }

  /// Creates a reader.
  ///
  /// - Parameters:
  ///   - source: The source of the bytes.
  ///   - name: The file or URL, for errors.
  ///   - layout: The location of the items.
  ///   - limits: The maximum depth of the document and the maximum size of an item. The document
  ///     itself can have any size.
  ///   - chunkSize: The number of bytes to read at a time.
  ///   - work: The limit that can interrupt reading, or `nil` for none.
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

  /// The number of bytes that have been consumed.
  package var position: Int { window.position }

  /// Returns the next items: at least one, at most `maximum`, and no more than one chunk contains.
  ///
  /// - Returns: The items, or `nil` after the last item, once the rest of the document has been
  ///   validated.
  /// - Throws: ``ArborError`` `malformedDocument` with location and path, `limitExceeded`, or
  ///   `fileUnreadable`. Subsequent calls throw the same error.
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
      try JSONScanner.checkEncoding(bytes)
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

  /// Enters an object or an array along the path to the items.
  private mutating func open(isObject: Bool, in surroundings: JSONScanner.Surroundings) {
    levels.append(Level(isObject: isObject, surroundings: surroundings))
    self.surroundings = surroundings
    state = .members(isContinued: false)
  }

  /// The role of a member of the innermost level on the path to the items.
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

  /// Reads a member of the innermost level.
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
    // The value follows the root and, in an object, the key.
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

  /// Leaves the innermost level.
  private mutating func close() -> Step {
    let closed = levels.removeLast()
    if isList == nil, missingMember == nil, let path = wantedMember {
      missingMember = (path.names[levels.count], closed.keys)
    }
    surroundings = levels.last?.surroundings ?? JSONScanner.Surroundings()
    state = levels.isEmpty ? .end : .members(isContinued: true)
    return closed.repeatedKey.map(Step.refused) ?? .nothing
  }

  /// Records a key. As when a document is scanned as a whole, a repeated key is reported once the
  /// entire object has been read.
  ///
  /// - Parameter isNew: A closure that inserts the key and returns whether it wasn't present.
  /// - Returns: The error for a repeated key, or `nil`.
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

  /// Records the keys of items. The scanner detects repetitions only within a batch.
  ///
  /// - Returns: The error for the first repeated key, or `nil`.
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
