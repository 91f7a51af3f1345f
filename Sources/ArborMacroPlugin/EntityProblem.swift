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
    "noClass", "@Entity describes the objects of a class; write 'final class … : ManagedObject'.")
  static let generic = EntityProblem(
    "generic", "A generic class stands for no single entity; write one class for each.")
  static let onMainActor = EntityProblem(
    "onMainActor",
    "Objects belong to their context and not to an actor; remove the actor from the class.")
  static func ownInitializer(_ name: String) -> EntityProblem {
    EntityProblem(
      "ownInitializer",
      "Contexts make the objects of '\(name)', which has no initializer of its own; write initial "
        + "values where the variables are declared, or set them in awakeFromInsert(), and make "
        + "objects by 'context.insert(\(name).self)'.")
  }
  static let unreadName = EntityProblem(
    "unreadName", "The entity's name is needed before the program runs; write it as a plain text.")

  static func noSuperclass(_ name: String) -> EntityProblem {
    EntityProblem(
      "noSuperclass",
      "An entity inherits from ManagedObject or from another entity; write "
        + "'class \(name): ManagedObject'.")
  }

  // MARK: Properties

  static func noType(_ name: String) -> EntityProblem {
    EntityProblem(
      "noType",
      "@Entity has to read the type of '\(name)' and sees no more than the text; write the type "
        + "behind the name, or @Transient before it.")
  }
  static func observers(_ name: String) -> EntityProblem {
    EntityProblem(
      "observers",
      "'\(name)' is kept in the store, where observers see no change; remove them, or write "
        + "@Transient for a property that is not kept.")
  }
  static func modifier(_ word: String, _ name: String) -> EntityProblem {
    EntityProblem(
      "modifier",
      "'\(name)' is kept in the store and cannot be \(word); remove the word, or write @Transient "
        + "for a property that is not kept.")
  }
  static let severalVariables = EntityProblem(
    "severalVariables", "Each property of an entity has a line of its own; write them one by one.")
  static let noName = EntityProblem(
    "noName", "A property of an entity has one name; write each variable by itself.")
  static func reservedName(_ name: String) -> EntityProblem {
    EntityProblem(
      "reservedName",
      "'\(name)' is a member of ManagedObject; give the property another name, and say "
        + ".renamed(from:) where the store has it.")
  }
  static func notStored(_ marker: String, _ name: String) -> EntityProblem {
    EntityProblem(
      "notStored",
      "'\(name)' is computed or constant, and the store keeps variables only; remove @\(marker).")
  }
  static func severalMarkers(_ name: String) -> EntityProblem {
    EntityProblem(
      "severalMarkers",
      "'\(name)' is one of an attribute, a relationship and a transient variable; keep one of the "
        + "three.")
  }
  static func noInitialValue(_ name: String) -> EntityProblem {
    EntityProblem(
      "noInitialValue",
      "Contexts make objects without arguments; give the transient '\(name)' an initial value.")
  }
  static func conditional(_ name: String) -> EntityProblem {
    EntityProblem(
      "conditional",
      "@Entity does not look into #if, and '\(name)' would not be kept; write it outside, or "
        + "@Transient before it.")
  }
  static func unreadOption(_ option: String) -> EntityProblem {
    EntityProblem(
      "unreadOption",
      "@Entity reads options as they are written; write '\(option)' as '.indexed', "
        + "'.bounds(0...9)' and the like.")
  }
  static func markedOutsideOfEntity(_ marker: String) -> EntityProblem {
    EntityProblem(
      "markedOutsideOfEntity",
      "@\(marker) says something to @Entity, which the class does not have; write @Entity before "
        + "the class.")
  }

  static func unsupportedNumber(_ name: String, _ type: String) -> EntityProblem {
    EntityProblem(
      "unsupportedNumber",
      "No attribute holds every '\(type)' exactly; make '\(name)' an Int64, a Double or a Decimal.")
  }

  static func transformed(_ name: String) -> EntityProblem {
    EntityProblem(
      "transformed",
      "The transformed '\(name)' can be nil and begins so; write its type with a question mark and "
        + "without a value, and say .mandatory where it has to have one at commit.")
  }

  // MARK: Relationships

  static func relationshipWithValue(_ name: String) -> EntityProblem {
    EntityProblem(
      "relationshipWithValue",
      "The relationship '\(name)' begins empty; remove the initial value, and link objects in "
        + "awakeFromInsert().")
  }
  static func optionalToMany(_ name: String) -> EntityProblem {
    EntityProblem(
      "optionalToMany",
      "The to-many relationship '\(name)' is empty rather than nil; remove the question mark.")
  }
  static func bareToOne(_ name: String) -> EntityProblem {
    EntityProblem(
      "bareToOne",
      "The to-one relationship '\(name)' can be nil until the commit; add a question mark, and say "
        + ".mandatory where it has to lead somewhere.")
  }
  static func unknownRelationship(_ name: String) -> EntityProblem {
    EntityProblem(
      "unknownRelationship",
      "@Entity does not know what the relationship '\(name)' leads to; write its type as "
        + "'Company?', 'Set<Employee>', '[Employee]' or 'ToMany<Employee>'.")
  }
  static func unmarkedRelationship(_ name: String) -> EntityProblem {
    EntityProblem(
      "unmarkedRelationship",
      "A set of objects is a relationship; write @Relationship before '\(name)'.")
  }
  static let unreadInverse = EntityProblem(
    "unreadInverse", "The inverse is named by a plain text; write inverse: \"name\".")
}

/// A fix-it for a problem.
struct EntityFix: FixItMessage {
  let message: String
  var fixItID: MessageID { MessageID(domain: "ArborMacros", id: message) }
}
