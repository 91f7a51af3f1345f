internal import ArborModel
internal import LMDB

/// The trustworthiness of the page on which something was found.
enum SalvageRank: Int, Comparable {
  /// The page is left over from an earlier state, or has the number of another page.
  case stale
  /// It is unknown whether the page is of the newest state.
  case unknown
  /// The page is of the newest state but damaged.
  case damaged
  /// The page is of the newest state.
  case current

  init(_ use: DamagedFile.PageUse) {
    switch use {
    case .current: self = .current
    case .unknown: self = .unknown
    case .free, .misplaced: self = .stale
    }
  }

  static func < (left: SalvageRank, right: SalvageRank) -> Bool { left.rawValue < right.rawValue }
}

/// The entries of the `arbor` database that were found, with the ranks of their pages.
struct SalvagedEntries {
  struct Found {
    let bytes: [UInt8]
    let rank: SalvageRank
  }

  /// The models, the best first.
  private(set) var models: [Found] = []
  private(set) var catalogs: [Found] = []
  private(set) var layouts: [String: Found] = [:]
  /// The greatest value of each counter.
  private(set) var counters: [String: UInt64] = [:]
  /// The application's metadata by key.
  private(set) var metadata: [String: Found] = [:]

  /// The maximum number of different models or catalogs to try.
  private static let maximumVersions = 64

  /// Records an entry if it is plausible and the best so far.
  mutating func note(_ key: String, _ bytes: UnsafeRawBufferPointer, _ rank: SalvageRank) {
    switch key {
    case StoreFormat.modelKey:
      // Validated by its contents, because it has no checksum.
      if bytes.first == UInt8(ascii: "{") { Self.insert(bytes, rank, into: &models) }
    case StoreFormat.catalogKey:
      if ByteReader(checked: bytes) != nil { Self.insert(bytes, rank, into: &catalogs) }
    default:
      if key.hasPrefix(StoreFormat.counterKey("")) {
        noteCounter(String(key.dropFirst(StoreFormat.counterKey("").count)), bytes)
      } else if key.hasPrefix(StoreFormat.applicationKey("")) {
        let name = String(key.dropFirst(StoreFormat.applicationKey("").count))
        Self.replace(&metadata[name], bytes, rank)
      } else if key.hasPrefix("layout/"), ByteReader(checked: bytes) != nil {
        Self.replace(&layouts[key], bytes, rank)
      }
    }
  }

  private mutating func noteCounter(_ name: String, _ bytes: UnsafeRawBufferPointer) {
    guard let value = StoreCounter.decode(bytes), value <= StoreCounter.limit(name) + 1 else {
      return
    }
    counters[name] = max(counters[name] ?? 0, value)
  }

  private static func replace(
    _ found: inout Found?, _ bytes: UnsafeRawBufferPointer, _ rank: SalvageRank
  ) {
    if let found, found.rank >= rank { return }
    found = Found(bytes: Array(bytes), rank: rank)
  }

  private static func insert(
    _ bytes: UnsafeRawBufferPointer, _ rank: SalvageRank, into list: inout [Found]
  ) {
    if let index = list.firstIndex(where: { $0.bytes.elementsEqual(bytes) }) {
      guard list[index].rank < rank else { return }
      list.remove(at: index)
    }
    let index = list.firstIndex { $0.rank < rank } ?? list.count
    list.insert(Found(bytes: Array(bytes), rank: rank), at: index)
    if list.count > maximumVersions { list.removeLast() }
  }

  /// Removes the application's metadata below a rank. Called if the newest state is known to
  /// contain no other entries.
  mutating func keepMetadata(from rank: SalvageRank) {
    metadata = metadata.filter { $0.value.rank >= rank }
  }
}
