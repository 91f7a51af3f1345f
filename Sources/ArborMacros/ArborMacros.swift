public import ArborModel

/// Makes a class the representation of an entity: the store keeps its variables.
///
/// ```swift
/// import ArborData
/// import ArborMacros
///
/// @Entity final class Company: ManagedObject {
///   @Attribute(.unique) var companyID: Int64 = 0
///   var companyName: String = ""
///   @Relationship(inverse: "company", deleteRule: .cascade) var employees: Set<Employee>
/// }
/// @Entity final class Employee: ManagedObject {
///   @Attribute(.indexed) var age: Int = 18
///   var name: String = ""
///   @Relationship(inverse: "employees") var company: Company?
/// }
/// let model = try ManagedObjectModel(for: [Company.self, Employee.self])
/// ```
///
/// Each stored variable with a type is an attribute, unless ``Relationship(_:inverse:deleteRule:)``
/// or ``Transient()`` stands before it. Its type is one of those that attributes have, an
/// enumeration with such a raw value, any `Codable` type, or an optional of these. Constants,
/// computed, overriding and static variables, functions and nested types are left alone. What is
/// added to the class is the form that can be written by hand: `entityDescription`, accessors over
/// numbered slots, and what else the class's text tells: the names of properties by their key paths,
/// and which hooks it overrides.
///
/// An initial value that is a constant by its text is part of the model as the attribute's default:
/// a literal, a case or another constant of the property's own type,
/// `Date(timeIntervalSince1970: 0)` and the like. Every other one is evaluated for each object that
/// is inserted, before `awakeFromInsert()`: `var id: UUID = UUID()`, `var created: Date = .now`.
///
/// A class that inherits from another entity describes a subentity of it.
///
/// - Parameters:
///   - name: The entity's name; that of the class where none is given.
///   - isAbstract: Whether no object can be of exactly this entity.
///   - uniquenessConstraints: Sets of properties whose values together are unique; single
///     attributes are marked `.unique` instead.
///   - fetchIndexes: Indexes over several properties; single attributes are marked `.indexed`
///     instead.
///   - renamedFrom: The name the entity had in an earlier version of the model.
///   - versionHashModifier: A word that makes the entity differ from its earlier version.
///   - userInfo: Notes that steer importing and tools.
///   - fetchedProperties: Named requests of the entity's objects.
@attached(
  member, names: named(entityDescription), named(entityName), named(attributeCount),
  named(relationshipCount), named(describedEntity), named(propertyNames), named(overriddenHooks),
  named(setInitialValues))
@attached(memberAttribute)
public macro Entity(
  _ name: String? = nil, isAbstract: Bool = false, uniquenessConstraints: [[String]] = [],
  fetchIndexes: [FetchIndexDescription] = [], renamedFrom: String? = nil,
  versionHashModifier: String? = nil, userInfo: [String: String] = [:],
  fetchedProperties: [FetchedPropertyDescription] = []
) = #externalMacro(module: "ArborMacroPlugin", type: "EntityMacro")

/// Says more about an attribute than its type and its default value.
///
/// ```swift
/// @Attribute(.unique) var companyID: Int64 = 0
/// @Attribute(.indexed, .bounds(0...150)) var age: Int = 18
/// @Attribute(.renamed(from: "mail"), .pattern(".+@.+")) var email: String?
/// @Attribute(.externalStorage) var photo: Data?
/// ```
///
/// - Parameter options: The options, each written out.
@attached(peer)
public macro Attribute(_ options: AttributeOption...) =
  #externalMacro(module: "ArborMacroPlugin", type: "PropertyMarkerMacro")

/// Makes a variable a relationship: `Company?`, `Set<Employee>`, `[Employee]` where the members
/// have an order, or `ToMany<Employee>` for a view that does not read them.
///
/// ```swift
/// @Relationship(inverse: "company", deleteRule: .cascade) var employees: Set<Employee>
/// @Relationship(.mandatory, inverse: "employees") var company: Company?
/// ```
///
/// - Parameters:
///   - options: What else is to be said, each option written out.
///   - inverse: The name of the relationship back, which the compiler checks: the class at the
///     other end has to have it, and it has to lead back. Nil for none.
///   - deleteRule: What happens to the objects at the other end when an object is deleted.
@attached(peer)
public macro Relationship(
  _ options: RelationshipOption..., inverse: String? = nil,
  deleteRule: RelationshipDescription.DeleteRule = .nullify
) = #externalMacro(module: "ArborMacroPlugin", type: "PropertyMarkerMacro")

/// Leaves a variable alone: it lives as long as its object and is no part of the model.
///
/// An attribute that the model knows and no commit writes is marked `@Attribute(.transient)`
/// instead.
///
/// ```swift
/// @Transient var isSelected = false
/// ```
@attached(peer)
public macro Transient() =
  #externalMacro(module: "ArborMacroPlugin", type: "PropertyMarkerMacro")

/// The accessors that `@Entity` gives a variable; never written by hand.
@attached(accessor)
public macro EntityProperty(get: String, set: String? = nil) =
  #externalMacro(module: "ArborMacroPlugin", type: "EntityPropertyMacro")
