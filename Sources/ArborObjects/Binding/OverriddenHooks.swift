/// The hooks overridden by a class, among those whose calls have a cost that can be saved.
///
/// The hooks of ``ManagedObject`` do nothing, but creating their arguments for each value of each
/// object costs more than everything else that a commit validates. Those for individual values and
/// for every object that is read are therefore called only for classes that override them. The
/// others are always called, but derived values are computed before validation only for classes that
/// override a hook that could read them. `@Entity` lists the overridden hooks. A class written by hand
/// can list them as well; otherwise all hooks of its objects are called.
///
/// ```swift
/// override class var overriddenHooks: OverriddenHooks {
///   OverriddenHooks(.validate, of: Employee.self)
/// }
/// ```
public struct OverriddenHooks: Sendable {
  /// A hook whose call, or whose preparation, has a cost.
  public enum Hook: UInt8, CaseIterable, Sendable {
    /// The hook ``ManagedObject/validate(_:forKey:)``.
    case validate
    /// The hook ``ManagedObject/importValue(_:forKey:)``.
    case importValue
    /// The hook ``ManagedObject/didImport(from:)``.
    case didImport
    /// The hook ``ManagedObject/awakeFromFetch()``.
    case awakeFromFetch
    /// The hook ``ManagedObject/validateForInsert()``.
    case validateForInsert
    /// The hook ``ManagedObject/validateForUpdate()``.
    case validateForUpdate
    /// The hook ``ManagedObject/validateForDelete()``.
    case validateForDelete
  }

  private let hooks: UInt8
  /// The class that the list applies to. A subclass that inherits the list may override more hooks.
  private let objectClass: ManagedObject.Type

  /// Creates a list of the hooks that a class itself overrides.
  ///
  /// - Parameters:
  ///   - objectClass: The class.
  ///   - superclass: Its superclass, whose hooks are added. `ManagedObject` overrides none.
  public init(
    _ hooks: Hook..., of objectClass: ManagedObject.Type,
    inheriting superclass: ManagedObject.Type = ManagedObject.self
  ) {
    self.objectClass = objectClass
    self.hooks = hooks.reduce(Self.bits(of: superclass)) { $0 | 1 << $1.rawValue }
  }

  /// Creates the list of the hooks to call for a class's objects.
  init(calledFor objectClass: ManagedObject.Type) {
    self.objectClass = objectClass
    hooks = Self.bits(of: objectClass)
  }

  func contains(_ hook: Hook) -> Bool { hooks & 1 << hook.rawValue != 0 }

  /// Whether any hook is called to validate an object.
  var validates: Bool {
    contains(.validate) || contains(.validateForInsert) || contains(.validateForUpdate)
      || contains(.validateForDelete)
  }

  private static func bits(of objectClass: ManagedObject.Type) -> UInt8 {
    if objectClass == ManagedObject.self { return 0 }
    let listed = objectClass.overriddenHooks
    return listed.objectClass == objectClass ? listed.hooks : .max
  }
}
