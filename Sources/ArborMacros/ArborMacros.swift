public import ArborModel

/// Declares a class as the representation of an entity and persists its variables.
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
/// Each stored variable with a type annotation is an attribute, unless it is marked with
/// ``Relationship(_:inverse:deleteRule:)`` or ``Transient()``. Its type is one of the attribute
/// types, an enumeration with such a raw value, any `Codable` type, or an optional of these.
/// Constants, computed, overriding and static variables, functions and nested types are left
/// unchanged. The macro generates the code you could also write by hand: `entityDescription`,
/// accessors for numbered slots, and facts derived from the class's source, such as the names of
/// properties by key path and the overridden hooks.
///
/// An initial value that is recognizable as a constant becomes the attribute's default in the
/// model: a literal, a case or another constant of the property's own type,
/// `Date(timeIntervalSince1970: 0)` and similar expressions. Any other initial value is evaluated
/// for each inserted object, before `awakeFromInsert()`: `var id: UUID = UUID()`, `var created:
/// Date = .now`.
///
/// A class that inherits from another entity class describes a subentity.
///
/// - Parameters:
///   - name: The entity's name. Defaults to the name of the class.
///   - isAbstract: Whether the entity is abstract, so that objects can only be instances of its
///     subentities.
///   - uniquenessConstraints: Sets of properties whose combined values are unique. Mark single
///     attributes `.unique` instead.
///   - fetchIndexes: Indexes over several properties. Mark single attributes `.indexed` instead.
///   - renamedFrom: The entity's name in an earlier version of the model.
///   - versionHashModifier: A string that distinguishes the entity from its earlier version.
///   - userInfo: Annotations for importing and tools.
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

/// Specifies options of an attribute in addition to its type and default value.
///
/// ```swift
/// @Attribute(.unique) var companyID: Int64 = 0
/// @Attribute(.indexed, .bounds(0...150)) var age: Int = 18
/// @Attribute(.renamed(from: "mail"), .pattern(".+@.+")) var email: String?
/// @Attribute(.externalStorage) var photo: Data?
/// ```
///
/// - Parameter options: The options. Each must be a literal expression.
@attached(peer)
public macro Attribute(_ options: AttributeOption...) =
  #externalMacro(module: "ArborMacroPlugin", type: "PropertyMarkerMacro")

/// Declares a variable as a relationship: `Company?`, `Set<Employee>`, `[Employee]` if the members
/// are ordered, or `ToMany<Employee>` for a view that does not load them.
///
/// ```swift
/// @Relationship(inverse: "company", deleteRule: .cascade) var employees: Set<Employee>
/// @Relationship(.mandatory, inverse: "employees") var company: Company?
/// ```
///
/// - Parameters:
///   - options: Further options. Each must be a literal expression.
///   - inverse: The name of the inverse relationship, or `nil` for none. The compiler checks that
///     the class at the other end has it and that it points back.
///   - deleteRule: The effect on the objects at the other end when an object is deleted.
@attached(peer)
public macro Relationship(
  _ options: RelationshipOption..., inverse: String? = nil,
  deleteRule: RelationshipDescription.DeleteRule = .nullify
) = #externalMacro(module: "ArborMacroPlugin", type: "PropertyMarkerMacro")

/// Excludes a variable from the model. Its value exists only in memory, as long as its object.
///
/// To declare an attribute that is part of the model but never committed, use
/// `@Attribute(.transient)` instead.
///
/// ```swift
/// @Transient var isSelected = false
/// ```
@attached(peer)
public macro Transient() =
  #externalMacro(module: "ArborMacroPlugin", type: "PropertyMarkerMacro")

/// Generates the accessors of an `@Entity` class's variable. Not meant to be used directly.
@attached(accessor)
public macro EntityProperty(get: String, set: String? = nil, _modify: String? = nil) =
  #externalMacro(module: "ArborMacroPlugin", type: "EntityPropertyMacro")
