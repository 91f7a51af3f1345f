internal import ArborJSON
internal import ArborModel

/// Which of the hooks that are called most often a class overrides: for single values and for every
/// object that is read.
///
/// The hooks of ``ManagedObject`` do nothing, and most classes leave them so; but what they are
/// given has to be made for each value of each object, which costs more than everything else that
/// a commit checks. Of a class that overrides one they are called, of others not.
///
/// Swift does not say what a class overrides, so its table of methods is looked at, which native
/// classes have in their metadata: a subclass's begins with a copy of its superclass's, in which
/// what it overrides is replaced. Where a hook's entry lies is found out by comparing
/// ``ManagedObject`` with a class that overrides this hook alone.
///
/// It errs on one side only. A table that holds the very entry of ``ManagedObject`` leads a call to
/// that method, and calling it would do nothing. Where the tables are not what is expected — on
/// platforms that sign the entries, say — every hook counts as overridden.
struct OverriddenHooks: OptionSet, Sendable {
  let rawValue: UInt8

  static let validate = OverriddenHooks(rawValue: 1)
  static let importValue = OverriddenHooks(rawValue: 2)
  static let didImport = OverriddenHooks(rawValue: 4)
  static let awakeFromFetch = OverriddenHooks(rawValue: 8)

  init(rawValue: UInt8) { self.rawValue = rawValue }

  /// The hooks that a class or one of its superclasses overrides.
  init(of objectClass: ManagedObject.Type) {
    self = []
    let table = MethodTable(objectClass)
    for (hook, index) in Self.indices {
      if let index, Self.base[index] == table[index] { continue }
      insert(hook)
    }
  }

  private static let base = MethodTable(ManagedObject.self)
  /// The index of each hook; nil where it was not found.
  private static let indices: [(hook: OverriddenHooks, index: Int?)] = [
    (.validate, index(of: ValidateProbe.self)), (.importValue, index(of: ImportValueProbe.self)),
    (.didImport, index(of: DidImportProbe.self)),
    (.awakeFromFetch, index(of: AwakeFromFetchProbe.self)),
  ]

  /// The only entry in which a class that overrides a hook differs from one that overrides nothing.
  private static func index(of probe: ManagedObject.Type) -> Int? {
    let (plain, probe) = (MethodTable(PlainProbe.self), MethodTable(probe))
    let indices = MethodTable.entries.filter { base[$0] == plain[$0] && base[$0] != probe[$0] }
    return indices.count == 1 ? indices.first : nil
  }
}

// What they return differs from what the hooks of `ManagedObject` do, so that no linker takes them
// for the same. None of them is ever made.
private final class PlainProbe: ManagedObject {}
private final class ValidateProbe: ManagedObject {
  override func validate(_ value: Value, forKey key: String) throws { throw ProbeError() }
}
private final class ImportValueProbe: ManagedObject {
  override func importValue(_ value: JSONValue, forKey key: String) -> Bool { true }
}
private final class DidImportProbe: ManagedObject {
  override func didImport(from json: JSONValue) { preconditionFailure("It is never made.") }
}
private final class AwakeFromFetchProbe: ManagedObject {
  override func awakeFromFetch() { preconditionFailure("It is never fetched.") }
}
private struct ProbeError: Error {}

/// The metadata of a class that derives from `ManagedObject`, as words.
///
/// ```
/// kind · superclass · flags, address point · instance size, alignment · size, address point ·
/// description · ivar destroyer · methods and field offsets …
/// ```
///
/// Source: `docs/ABI/TypeMetadata.rst` of Swift, class metadata without Objective-C. Sound since
/// metadata is never freed, only words are read that lie within the size that `ManagedObject`'s
/// metadata gives itself, and a subclass's is never shorter, for it begins with the same. The size
/// is believed where the words in front of it are what they have to be. `@unchecked Sendable`:
/// nobody writes there.
private struct MethodTable: @unchecked Sendable {
  private let words: UnsafePointer<UInt>

  init(_ objectClass: ManagedObject.Type) {
    words = unsafeBitCast(objectClass as AnyClass, to: UnsafePointer<UInt>.self)
  }

  subscript(index: Int) -> UInt { words[index] }

  private static let headerCount = 7

  /// The indices of methods, of ``ManagedObject`` and so of every class below it; none where its
  /// metadata is not what is expected.
  static let entries: Range<Int> = {
    let root = MethodTable(ManagedObject.self)
    let size = Int(truncatingIfNeeded: root[4] & 0xFFFF_FFFF)
    let addressPoint = Int(truncatingIfNeeded: root[4] >> 32)
    let count = (size - addressPoint) / MemoryLayout<UInt>.stride
    // A class that is made as the platform's own are, and a table of a likely length.
    let superclass = unsafeBitCast(TrackedObject.self as AnyClass, to: UInt.self)
    let isExpected =
      MemoryLayout<UInt>.size == 8 && root[0] == 0 && root[1] == superclass
      && addressPoint > 0 && addressPoint < 64 && (headerCount...1024).contains(count)
    return isExpected ? headerCount..<count : 0..<0
  }()
}
