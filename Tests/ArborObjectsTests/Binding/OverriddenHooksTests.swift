import ArborJSON
import ArborModel
import Testing

@testable import ArborObjects

/// Lists no hooks and overrides none.
private class Unlisted: ManagedObject {}
private class Plain: ManagedObject {
  override class var overriddenHooks: OverriddenHooks { OverriddenHooks(of: Plain.self) }
}
private class Validating: ManagedObject {
  override class var overriddenHooks: OverriddenHooks {
    OverriddenHooks(.validate, of: Validating.self)
  }
  override func validate(_ value: PropertyValue, forKey key: String) throws {}
}
private class Hearing: Validating {
  override class var overriddenHooks: OverriddenHooks {
    OverriddenHooks(.didImport, .awakeFromFetch, of: Hearing.self, inheriting: Validating.self)
  }
  override func didImport(from json: JSONValue) {}
  override func awakeFromFetch() {}
}
/// Inherits a list that doesn't include its own override.
private class UnlistedBelow: Plain {
  override func awakeFromFetch() {}
}
private class PlainBelow: UnlistedBelow {
  override class var overriddenHooks: OverriddenHooks {
    OverriddenHooks(of: PlainBelow.self, inheriting: UnlistedBelow.self)
  }
}

@Suite struct OverriddenHooksTests {
  private func called(_ objectClass: ManagedObject.Type) -> Set<OverriddenHooks.Hook> {
    let hooks = OverriddenHooks(calledFor: objectClass)
    return Set(OverriddenHooks.Hook.allCases.filter(hooks.contains))
  }

  private static let all = Set(OverriddenHooks.Hook.allCases)

  @Test("Only listed hooks are called")
  func listedHooks() {
    #expect(called(ManagedObject.self) == [])
    #expect(called(Plain.self) == [])
    #expect(called(Validating.self) == [.validate])
    #expect(called(Hearing.self) == [.validate, .didImport, .awakeFromFetch])
  }

  @Test("A class without a list of its own has all hooks called")
  func unlistedHooks() {
    #expect(called(Unlisted.self) == Self.all)
    #expect(called(UnlistedBelow.self) == Self.all)
    #expect(called(PlainBelow.self) == Self.all)
  }
}
