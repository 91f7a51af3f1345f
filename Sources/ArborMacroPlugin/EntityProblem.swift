package import SwiftDiagnostics

/// A problem with a class or a property. The message states the problem, then its remedy.
package struct EntityProblem: DiagnosticMessage {
  package let message: String
  private let id: String

  package var severity: DiagnosticSeverity { .error }
  package var diagnosticID: MessageID { MessageID(domain: "ArborMacros", id: id) }

  private init(_ id: String, _ message: String) {
    self.id = id
    self.message = message
  }

  // MARK: Classes

  static let noClass = EntityProblem(
    "noClass", "@Entity can only be attached to a class. Write 'final class … : ManagedObject'.")
  static let generic = EntityProblem(
    "generic", "A generic class cannot represent an entity. Write a class for each entity.")
  static func onActor(_ name: String) -> EntityProblem {
    EntityProblem(
      "onActor",
      "Objects belong to their context, not to an actor. Remove @\(name) from the class.")
  }
  static func ownInitializer(_ name: String) -> EntityProblem {
    EntityProblem(
      "ownInitializer",
      "'\(name)' cannot have its own initializer, because contexts create its objects. Set initial "
        + "values in the declarations or in awakeFromInsert(), and create objects with "
        + "'context.insert(\(name).self)'.")
  }
  static let unreadName = EntityProblem(
    "unreadName", "The entity's name must be known at compile time. Use a string literal.")

  static func noSuperclass(_ name: String) -> EntityProblem {
    EntityProblem(
      "noSuperclass",
      "An entity must inherit from ManagedObject or another entity. Write 'class \(name): "
        + "ManagedObject'.")
  }

  // MARK: Properties

  static func noType(_ name: String) -> EntityProblem {
    EntityProblem(
      "noType",
      "@Entity cannot infer the type of '\(name)'. Add a type annotation, or mark the property "
        + "@Transient.")
  }
  static func observers(_ name: String) -> EntityProblem {
    EntityProblem(
      "observers",
      "'\(name)' is stored, so property observers are not called. Remove the observers, or mark "
        + "the property @Transient.")
  }
  static func modifier(_ word: String, _ name: String) -> EntityProblem {
    EntityProblem(
      "modifier",
      "'\(name)' is stored and cannot be \(word). Remove the modifier, or mark the property "
        + "@Transient.")
  }
  static let severalVariables = EntityProblem(
    "severalVariables", "An entity's properties must be declared separately. Split the declaration."
  )
  static let noName = EntityProblem(
    "noName", "An entity's property cannot be a tuple pattern. Declare each variable separately.")
  static func reservedName(_ name: String) -> EntityProblem {
    EntityProblem(
      "reservedName",
      "'\(name)' is a member of ManagedObject. Rename the property, and add .renamed(from:) if "
        + "existing stores contain it.")
  }
  static func notStored(_ marker: String, _ name: String) -> EntityProblem {
    EntityProblem(
      "notStored",
      "'\(name)' is computed or constant, but only variables are stored. Remove @\(marker).")
  }
  static func severalMarkers(_ name: String) -> EntityProblem {
    EntityProblem(
      "severalMarkers",
      "'\(name)' can only be an attribute, a relationship or a transient variable. Keep one of the "
        + "three.")
  }
  static func noInitialValue(_ name: String) -> EntityProblem {
    EntityProblem(
      "noInitialValue",
      "Contexts create objects without arguments. Give the transient variable '\(name)' an initial "
        + "value.")
  }
  static func conditional(_ name: String) -> EntityProblem {
    EntityProblem(
      "conditional",
      "@Entity doesn't read #if blocks, so '\(name)' would not be stored. Move the property out of "
        + "the block, or mark it @Transient.")
  }
  static func unreadOption(_ option: String) -> EntityProblem {
    EntityProblem(
      "unreadOption",
      "@Entity cannot evaluate the option '\(option)'. Write it as a literal, such as '.indexed' "
        + "or '.bounds(0...9)'.")
  }
  static func markedOutsideOfEntity(_ marker: String) -> EntityProblem {
    EntityProblem(
      "markedOutsideOfEntity",
      "@\(marker) has no effect without @Entity. Add @Entity to the class.")
  }

  static func unsupportedNumber(_ name: String, _ type: String) -> EntityProblem {
    EntityProblem(
      "unsupportedNumber",
      "No attribute type stores every value of type '\(type)' exactly. Declare '\(name)' as Int64, "
        + "Double or Decimal.")
  }

  static func transformed(_ name: String) -> EntityProblem {
    EntityProblem(
      "transformed",
      "The transformed attribute '\(name)' starts as nil. Make its type optional without an "
        + "initial value, and add .mandatory if it must have a value at commit.")
  }

  // MARK: Relationships

  static func relationshipWithValue(_ name: String) -> EntityProblem {
    EntityProblem(
      "relationshipWithValue",
      "The relationship '\(name)' starts empty. Remove the initial value, and link objects in "
        + "awakeFromInsert().")
  }
  static func optionalToMany(_ name: String) -> EntityProblem {
    EntityProblem(
      "optionalToMany",
      "The to-many relationship '\(name)' is empty rather than nil. Make it non-optional.")
  }
  static func bareToOne(_ name: String, _ type: String) -> EntityProblem {
    EntityProblem(
      "bareToOne",
      "@Entity reads '\(type)' as a class, and the to-one relationship '\(name)' can be nil until "
        + "the commit. Make it optional, and add .mandatory if it must have a value at commit. If "
        + "'\(type)' is an alias of a collection, write the collection, such as 'Set<Part>'.")
  }
  static func unknownRelationship(_ name: String) -> EntityProblem {
    EntityProblem(
      "unknownRelationship",
      "@Entity cannot find the destination of the relationship '\(name)'. Write its type as "
        + "'Company?', 'Set<Employee>', '[Employee]' or 'ToMany<Employee>'.")
  }
  static func unmarkedRelationship(_ name: String) -> EntityProblem {
    EntityProblem(
      "unmarkedRelationship",
      "A set of objects is a relationship. Add @Relationship to '\(name)'.")
  }
  static let unreadInverse = EntityProblem(
    "unreadInverse", "The inverse must be a string literal. Write inverse: \"name\".")
}

/// A fix-it for a problem.
struct EntityFix: FixItMessage {
  let message: String
  var fixItID: MessageID { MessageID(domain: "ArborMacros", id: message) }
}
