extension ModelDifference {
  /// A single change: its kind, its subject in both models, and its consequences for a store.
  public struct Change: Sendable, Hashable {
    /// The kind of the change.
    public let kind: Kind
    /// The changed part by its name in the newer model, or in the older one if it was removed.
    /// `nil` for changes of the model as a whole.
    public let subject: Subject?
    /// The part in the older model that contains the objects or values, or `nil` for an added part.
    public let source: Subject?
    /// The effort of migrating a store for the change.
    public let effort: Effort
    /// The stored data that is lost, or `nil` if nothing is lost.
    ///
    /// If the change requires code, the data is lost only if there is no code for it.
    public let loss: Loss?
    /// The new rule that existing objects may violate, or `nil` if there isn't one.
    public let rule: Rule?

    /// The name of the changed entity (the new one, if it was renamed), or `nil` for a change of
    /// the model as a whole.
    public var entity: String? { subject?.entity }
    /// The name of the changed property (the new one, if it was renamed), or `nil` for any other
    /// change.
    public var property: String? { subject?.property }
    /// A Boolean value that indicates whether the change can be migrated without code.
    public var isLightweight: Bool { effort != .code }
  }

  /// The kind of a change, by the kind of its subject.
  public enum Kind: Sendable, Hashable {
    /// A change of an entity.
    case entity(EntityChange)
    /// A change of an attribute.
    case attribute(AttributeChange)
    /// A change of a relationship.
    case relationship(RelationshipChange)
    /// A change of an index or uniqueness constraint.
    case index(IndexChange)
    /// A change of a composite type.
    case composite(CompositeChange)
    /// A change of the model as a whole.
    case model(ModelChange)
  }

  /// An entity or a property.
  public struct Subject: Sendable, Hashable, CustomStringConvertible {
    /// The entity's name.
    public let entity: String
    /// The property's name, or `nil` for the entity itself.
    public let property: String?

    /// Creates a subject from names.
    public init(_ entity: String, _ property: String? = nil) {
      self.entity = entity
      self.property = property
    }

    /// `Entity` or `Entity.property`.
    public var description: String { property.map { "\(entity).\($0)" } ?? entity }
  }

  /// The effort of migrating a store for a change, in ascending order.
  public enum Effort: Sendable, Hashable, Comparable, CaseIterable {
    /// No effort: no stored data is affected.
    case none
    /// A catalog change, independent of the number of objects. Records are converted when they
    /// are read.
    case catalog
    /// A catalog change, and an index that is built from the objects.
    case indexBuild
    /// A pass over the objects.
    case pass
    /// Code that converts the stored data.
    case code
  }

  /// Stored data that the newer model cannot represent.
  public struct Loss: Sendable, Hashable {
    /// The kind of lost data.
    public enum Kind: Sendable, Hashable, CaseIterable {
      /// The objects of an entity.
      case objects
      /// The values of an attribute.
      case values
      /// The links of a relationship.
      case links
      /// The order of a relationship's members.
      case order
    }

    /// The kind of lost data.
    public let kind: Kind
    /// The entity or property that loses data, by its name in the older model.
    public let subject: Subject
    /// `Entity` or `Entity.property`, by name in the older model.
    public var name: String { subject.description }
  }

  /// A rule of the newer model that existing objects may violate.
  public enum Rule: Sendable, Hashable {
    /// Every object must have a value, and there is no default value.
    case mandatory
    /// The combined values of these properties must be unique.
    case unique([String])
    /// Every object must have at least this number of members.
    case minimumCount(Int)
    /// Every object must have at most this number of members.
    case maximumCount(Int)
    /// Every value must be within the bounds.
    case bounds(Bounds)
    /// Every value must match the regular expression.
    case pattern(String)
    /// Every value must be convertible to the type and back without change.
    case valuesFit(AttributeType)
    /// Every member must be an object of the entity.
    case destination(String)
    /// Every link must have a counterpart in the inverse relationship with this name.
    case inverse(String)
    /// No relationship to one of these entities may contain objects of this one.
    case noLongerKind(of: [String])
  }

  /// The minimum and maximum value of an attribute; for strings, the minimum and maximum length in
  /// characters.
  public struct Bounds: Sendable, Hashable {
    /// The minimum value, or ``PropertyValue/null`` for no bound.
    public let minimum: PropertyValue
    /// The maximum value, or ``PropertyValue/null`` for no bound.
    public let maximum: PropertyValue

    init(_ attribute: AttributeDescription) {
      minimum = attribute.minimum
      maximum = attribute.maximum
    }

    /// Returns whether a value within the other bounds can be outside these.
    func isNarrower(than other: Bounds) -> Bool {
      let isHigher =
        !minimum.isNull
        && (other.minimum.isNull || PropertyValue.compare(minimum, other.minimum) == .greater)
      let isLower =
        !maximum.isNull
        && (other.maximum.isNull || PropertyValue.compare(maximum, other.maximum) == .less)
      return isHigher || isLower
    }
  }

  /// The value of an attribute in existing objects.
  public enum Filling: Sendable, Hashable {
    /// `nil`.
    case null
    /// The default value in the newer model.
    case value(PropertyValue)
    /// The value computed by the attribute's derivation.
    case computed
    /// No value, because the attribute is not stored.
    case notStored
    /// No value, although the attribute is mandatory.
    case missing

    init(_ attribute: AttributeDescription) {
      self =
        if attribute.isTransient {
          .notStored
        } else if attribute.derivation != nil {
          .computed
        } else if !attribute.defaultValue.isNull {
          .value(attribute.defaultValue)
        } else {
          attribute.isOptional ? .null : .missing
        }
    }
  }
}
