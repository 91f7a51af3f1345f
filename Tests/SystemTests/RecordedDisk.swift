import Foundation

/// The events of a program's run in order: its operations on the files of a folder, and its output;
/// see faults.c.
enum DiskEvent {
  case written(file: UInt64, offset: Int, bytes: [UInt8], isDurable: Bool)
  /// A write that was recorded before is on the medium.
  case landed(file: UInt64, offset: Int, bytes: [UInt8])
  case synced(file: UInt64)
  case resized(file: UInt64, size: Int)
  case said(String)
  case made(file: UInt64, name: String)
  case renamed(from: String, to: String)
  case removed(String)
  case linked(from: String, to: String)
  case folderSynced

  private static let headerSize = 32

  /// Parses a recording.
  static func all(in data: [UInt8]) -> [DiskEvent] {
    var events: [DiskEvent] = []
    var start = 0
    while start + headerSize <= data.count {
      func number<N: FixedWidthInteger>(_ offset: Int, _ type: N.Type) -> N {
        data.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: start + offset, as: N.self) }
      }
      let kind = number(0, UInt32.self)
      let isDurable = number(4, UInt32.self) != 0
      let file = number(8, UInt64.self)
      let offset = Int(number(16, UInt64.self))
      let length = Int(number(24, UInt64.self))
      let end = start + headerSize + length
      let bytes = Array(data[(start + headerSize)..<end])
      let names = bytes.split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
      switch kind {
      case 1:
        events.append(.written(file: file, offset: offset, bytes: bytes, isDurable: isDurable))
      case 2: events.append(.synced(file: file))
      case 3: events.append(.resized(file: file, size: offset))
      case 4: events.append(.said(String(decoding: bytes, as: UTF8.self)))
      case 5: events.append(.made(file: file, name: names[0]))
      case 6: events.append(.renamed(from: names[0], to: names[1]))
      case 7: events.append(.removed(names[0]))
      case 8: events.append(.folderSynced)
      case 9: events.append(.linked(from: names[0], to: names[1]))
      case 10: events.append(.landed(file: file, offset: offset, bytes: bytes))
      default: preconditionFailure("a record of kind \(kind)")
      }
      start = end
    }
    return events
  }
}

/// A simulated disk on which written data is certain only once it has been synced. Until then any
/// part of it may survive a power loss, in any order, in units of a sector.
///
/// Every journaling file system keeps changes of names in order, but how many of them survive is
/// uncertain until their folder is synced.
struct RecordedDisk {
  private enum Change {
    case write(offset: Int, bytes: ArraySlice<UInt8>)
    case size(Int)
  }

  private struct File {
    var durable: [UInt8] = []
    var pending: [Change] = []
  }

  private static let sector = 512
  /// Whether the disk ignores syncs, like a faulty disk.
  let lies: Bool
  /// Files by a number of their own, because a new file may reuse the inode of a deleted one.
  private var files: [Int: File] = [:]
  private var present: [UInt64: Int] = [:]
  private var names: [String: Int] = [:]
  /// The names after each change since the folder was last synced.
  private var pendingNames: [[String: Int]] = []
  private var newest: [String: Int] = [:]
  private(set) var lines: [String] = []

  /// - Parameter lies: Whether the disk ignores syncs.
  init(lies: Bool = false) { self.lies = lies }

  /// Adds a file whose contents are certain.
  mutating func put(_ bytes: [UInt8], _ inode: UInt64, at name: String) {
    let number = files.count
    files[number] = File(durable: bytes)
    present[inode] = number
    names[name] = number
    newest = names
  }

  mutating func apply(_ event: DiskEvent) {
    switch event {
    case .written(let inode, let offset, let bytes, let isDurable):
      guard let number = present[inode] else { return }
      if isDurable, !lies {
        Self.apply(
          .write(offset: offset, bytes: bytes[...]), to: &files[number, default: File()].durable)
      } else {
        files[number]?.pending += Self.sectors(offset, bytes)
      }
    case .landed(let inode, let offset, let bytes):
      guard let number = present[inode], !lies, var file = files[number] else { return }
      let sectors = Self.sectors(offset, bytes)
      file.pending.removeAll { change in
        guard case .write(let start, _) = change else { return false }
        return start >= offset && start < offset + bytes.count
      }
      for change in sectors { Self.apply(change, to: &file.durable) }
      files[number] = file
    case .synced(let inode):
      guard let number = present[inode], !lies, var file = files[number] else { return }
      for change in file.pending { Self.apply(change, to: &file.durable) }
      file.pending.removeAll()
      files[number] = file
    case .resized(let inode, let size):
      if let number = present[inode] { files[number]?.pending.append(.size(size)) }
    case .said(let text): lines += text.split(separator: "\n").map(String.init)
    case .made(let inode, let name):
      let number = files.count
      files[number] = File()
      present[inode] = number
      change { $0[name] = number }
    case .renamed(let from, let to):
      change { names in
        names[to] = names[from]
        names[from] = nil
      }
    case .removed(let name): change { $0[name] = nil }
    case .linked(let from, let to): change { $0[to] = $0[from] }
    case .folderSynced:
      if lies { return }
      names = newest
      pendingNames.removeAll()
    }
  }

  private mutating func change(_ body: (inout [String: Int]) -> Void) {
    body(&newest)
    pendingNames.append(newest)
  }

  private static func sectors(_ offset: Int, _ bytes: [UInt8]) -> [Change] {
    var changes: [Change] = []
    var start = 0
    while start < bytes.count {
      let end = min(bytes.count, start + sector - (offset + start) % sector)
      changes.append(.write(offset: offset + start, bytes: bytes[start..<end]))
      start = end
    }
    return changes
  }

  private static func apply(_ change: Change, to content: inout [UInt8]) {
    switch change {
    case .size(let size):
      if size < content.count {
        content.removeLast(content.count - size)
      } else {
        content += [UInt8](repeating: 0, count: size - content.count)
      }
    case .write(let offset, let bytes):
      let end = offset + bytes.count
      if end > content.count { content += [UInt8](repeating: 0, count: end - content.count) }
      content.replaceSubrange(offset..<end, with: bytes)
    }
  }

  /// Returns files that may be present after a power loss at this point, by name: all durable
  /// contents, and a random part of the rest.
  func image(_ random: inout some RandomNumberGenerator) -> [String: [UInt8]] {
    let changes = Int.random(in: 0...pendingNames.count, using: &random)
    let found = changes == 0 ? names : pendingNames[changes - 1]
    // None, all, half, or most of the pending changes survive.
    let shares: [Double] = [0, 1, 0.5, 0.5, 0.9]
    let share = shares[Int.random(in: 0..<shares.count, using: &random)]
    return found.compactMapValues { number -> [UInt8]? in
      guard let file = files[number] else { return nil }
      var content = file.durable
      for change in file.pending where Double.random(in: 0..<1, using: &random) < share {
        Self.apply(change, to: &content)
      }
      return content
    }
  }

  /// Whether any contents or names are uncertain.
  var isUncertain: Bool { !pendingNames.isEmpty || files.values.contains { !$0.pending.isEmpty } }
}
