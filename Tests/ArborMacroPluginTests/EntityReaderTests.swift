import Testing

@Suite struct EntityReaderTests {
  @Test(arguments: [
    ("struct A {}", "describes the objects of a class"),
    ("enum A {}", "describes the objects of a class"),
    ("actor A {}", "describes the objects of a class"),
    ("class A {}", "inherits from ManagedObject"),
    ("class A<T>: ManagedObject {}", "generic class"),
    ("@MainActor class A: ManagedObject {}", "belong to their context"),
  ])
  func whatIsNoEntityIsRefused(declaration: String, message: String) {
    let expansion = Expansion(of: "@Entity \(declaration)")
    #expect(expansion.messages.count == 1)
    #expect(expansion.messages.first?.contains(message) == true)
    #expect(!expansion.text.contains("describedEntity"))
  }

  @Test func aSuperclassIsOffered() {
    #expect(Expansion(of: "@Entity class A {}").fixes == ["A: ManagedObject"])
  }

  @Test func theNameIsAText() {
    let expansion = Expansion(of: "@Entity(name) class A: ManagedObject {}")
    #expect(expansion.messages.map { $0.contains("plain text") } == [true])
  }

  @Test func conditionsAreNotLookedInto() {
    let expansion = Expansion(
      of: """
        @Entity class A: ManagedObject {
          #if DEBUG
            var age: Int = 0
            @Transient var isSelected = false
            func f() {}
          #endif
        }
        """)
    #expect(expansion.messages.map { $0.contains("'age' would not be kept") } == [true])
  }
}
