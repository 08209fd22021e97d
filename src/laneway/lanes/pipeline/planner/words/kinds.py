"""What tables are usually about: the words their columns are called by, and nouns for one and the same kind of row."""

from __future__ import annotations

from laneway.lanes.pipeline.planner.phrasing import words

_SIGNS = """
flight: airline carrier departure arrival origin destination gate aircraft stop
trip: departure arrival origin destination driver distance
order: customer quantity total product shipped status
sale: amount revenue product region quantity store
purchase: amount buyer vendor quantity
transaction: amount account merchant balance
payment: amount method invoice
invoice: amount due paid customer
product: price stock sku category brand quantity rating
item: price stock sku category brand quantity
article: price stock sku title author
employee: salary department hire manager position job
worker: salary department hire
person: age email birth name height salary
user: email signup login active plan username
customer: email signup city phone segment loyalty
client: email city phone
member: email joined plan
subscriber: email plan
student: grade school gpa major score class
teacher: subject school class
patient: diagnosis doctor admission discharge age ward physician
doctor: specialty hospital
city: population country area mayor
country: population capital area continent gdp
movie: director genre runtime release year rating
film: director genre runtime release year rating
book: author page isbn publisher genre
song: artist album duration genre
album: artist genre
game: platform genre publisher team
player: team position goal score age
team: league win point coach
match: team home away score stadium referee goal
hotel: star room city price rating
room: hotel bed price floor
restaurant: cuisine city rating
house: bedroom sqft price address
apartment: bedroom rent price
property: bedroom price address
listing: price bedroom host
car: make model mileage year engine
vehicle: make model mileage year
ticket: priority assignee status subject
issue: priority assignee status label
task: due assignee priority done status
project: budget deadline owner
server: cpu memory host ip uptime
request: path status latency method
event: date venue
booking: guest checkin checkout room customer flight
reservation: guest checkin checkout table
shipment: weight carrier destination tracking warehouse
package: weight carrier destination tracking
delivery: driver address weight
store: region sale manager
branch: region manager
supplier: contact country
company: revenue industry employee founded headquarter
stock: ticker
wine: grape vintage region
recipe: ingredient calorie
course: instructor credit
class: instructor credit
loan: interest principal borrower
account: balance owner
expense: amount category
job: salary company
meal: calorie
animal: species breed weight
dog: breed
cat: breed
device: battery model firmware
sensor: reading temperature
reading: sensor temperature humidity
measurement: sensor temperature
station: temperature rainfall wind rain
episode: season host guest download podcast show
podcast: host episode download
vessel: flag crew tonnage port dwt
ship: flag crew tonnage port dwt
boat: crew length port
plane: aircraft engine seat
driver: license vehicle rating hired
campaign: click impression budget spend
post: like author
comment: author post
review: rating author product
lead: source stage
deal: stage amount
visit: page duration
session: duration user
log: level message
error: message code level
exam: mark score subject passed grade candidate
test: mark score subject passed grade candidate
dish: cuisine kcal calorie serving chef ingredient
call: agent queue wait caller talk
grant: award applicant study funding
flat: rent bed floor balcony
train: departure arrival track platform route
bus: route stop line capacity
route: distance stop origin destination
stay: check_in checkin checkout night room guest
rental: pickup return daily rate customer car
repair: mechanic part labour vehicle
claim: policy claimant amount insurer
policy: premium insurer holder
contract: start end value party
subscription: plan renewal price
race: distance winner lap
runner: finish pace bib
athlete: sport medal team
concert: artist venue ticket
exhibit: artist gallery room
artwork: artist medium year gallery
painting: artist medium year
museum: city visitor exhibit
plant: species watering light height
tree: species height girth
seed: variety sowing
crop: yield field
field: crop area yield
farm: area crop animal
cow: milk breed
pet: owner breed species
bird: species habitat
sighting: species observer habitat
observation: species observer
mountain: height range country
river: length country
lake: depth area
planet: mass radius moon
star: magnitude constellation
volcano: height eruption
beer: abv brewery style
coffee: roast origin
cheese: milk region
tea: origin price
machine: plant uptime output manufacturer
batch: defect product line
defect: severity line product
part: supplier cost quantity
tool: brand price
pallet: weight bin
warehouse: capacity location
refund: amount reason order
application: applicant position status
applicant: position experience
interview: candidate interviewer
candidate: party vote position experience
vote: candidate party
election: candidate party turnout
vacancy: salary department
absence: employee reason
shift: employee start end
prescription: drug dose doctor patient
drug: dose manufacturer
sample: lab result
surgery: surgeon duration
page: view bounce visitor
click: campaign ad
keyword: rank volume
website: visitor traffic
app: download rating developer
commit: author repository
deployment: environment version
bug: severity component
feature: priority status
alert: severity source
incident: severity service
backup: size duration
message: sender recipient
email: sender recipient subject
contact: email phone company
supplier: country lead rating
tenant: rent flat
building: floor height address
office: city floor desk
meeting: organizer room duration
conference: city venue attendee
talk: speaker room duration
workshop: trainer seat
festival: venue day artist
attendee: ticket email
volunteer: hour skill
donor: gift donation segment
gift: donor amount
donation: donor amount campaign
lesson: teacher student duration
tutor: subject rate
grade: student subject
score: player game
goal: player minute
transfer: player fee club
club: league stadium member
stadium: capacity city
referee: match card
boxer: weight win
bike: brand frame price
scooter: battery price
phone: battery brand storage price
laptop: brand ram cpu screen price
camera: sensor lens price
tablet: screen storage price
printer: toner model
monitor: inch resolution
shoe: brand size color price
shirt: size color price
toy: age price brand
furniture: material price
lamp: watt price
ingredient: calorie price
menu: dish price
drink: price volume
snack: price calorie
pizza: topping price
cake: flavour price
van: payload driver odometer depot
truck: payload driver odometer
tram: line stop
ferry: route capacity port
container: weight port
cargo: weight port
port: ship country
bridge: length span
road: length
tunnel: length
dam: height capacity
meter: reading tariff
bill: amount due tariff
panel: output watt
turbine: output capacity wind
plot: area crop soil
permit: applicant status fee
crime: type district
lawyer: case firm
vet: animal clinic
clinic: doctor city
nurse: ward shift
hospital: bed city
school: student district
university: student ranking
library: book member
borrower: book member
magazine: publisher issue
newspaper: publisher circulation
video: view like channel
stream: viewer channel
channel: subscriber video
actor: film award
award: winner year
""".strip()
TYPICAL = {line.split(":")[0]: frozenset(line.split(":")[1].split()) for line in _SIGNS.split("\n")}
"""Words that columns of a table of such things are called by."""
_FAMILIES = """
person employee worker user customer client member student patient player teacher doctor staff buyer candidate applicant
  guest visitor tenant volunteer donor subscriber participant attendee passenger nurse agent contact driver resident
  colleague borrower reader shopper traveller traveler runner athlete contestant competitor
product item article good merchandise ware
movie film picture
flight trip ride journey route connection
sale order purchase transaction payment invoice bill expense receipt deal charge
house home apartment property listing flat condo studio villa unit
car vehicle truck van lorry automobile bus
ticket issue task request case incident complaint bug call todo
company business firm organization supplier vendor
customer client account
package shipment parcel delivery consignment
ship vessel boat ferry yacht
match game fixture
song track tune
part component spare
plane aircraft jet
device machine server host node computer appliance
dish meal recipe food
course class lesson module workshop
exam test assessment quiz
book title novel publication volume
animal pet
appointment booking reservation visit stay consultation
plot field parcel land estate
reading measurement observation sighting record sample
loan credit
request application
absence leave vacation holiday
room suite
plant flower tree shrub
worker employee staff colleague teammate
trip tour excursion
concert gig show performance
store shop branch outlet
school college
project job assignment
machine equipment unit
wine bottle
bike bicycle
article post story
member subscriber
talk session presentation
artwork painting piece work exhibit
laptop notebook
donation gift contribution
sensor device probe
artist act band performer musician singer
repair job
promotion promo campaign
"""
KIN = tuple(frozenset(line.split()) for line in _FAMILIES.replace("\n  ", " ").strip().split("\n"))
"""Within one of these the nouns may stand for each other."""
WIDER = words(
    """
    person employee staff member user customer client participant product item article good ware property listing unit
    home vehicle ticket issue case task request device machine equipment animal pet plant course class exam event
    company business organization account sale order transaction package shipment trip journey ship vessel part
    performer artist dish meal food work publication
    """
)
"""Nouns that may stand for all others of their family: a van is a vehicle, and a house is no flat."""
GOODS = words(
    """
    bike scooter phone laptop camera tablet printer monitor shoe shirt toy furniture lamp drink snack wine beer coffee
    cheese tea book tool device
    """
)
"""What a table of products may well be of."""
PERSONS = KIN[0] | words(
    """
    manager supervisor pilot captain director author boss owner singer actor chef lawyer engineer developer officer
    child kid parent man woman friend neighbour colleague voter citizen musician scientist professor boy girl adult
    senior
    junior beginner newcomer lady gentleman veteran retiree trainee apprentice freelancer tourist foreigner local
    student
    """
)
DOERS = words(
    "assignee requester agent reporter handler reviewer approver caller host sender recipient applicant donor"
)
"""Somebody too, by what they do in a row."""
PERSONAL = words("age email birth born salary phone gender sex surname first hire department ward grade wage")
"""Somebody is known by one of these; a table without any is hardly one of people."""
UNTELLING = words(
    "listing record entry line case document log item object row obj element number unit card badge full display"
)
"""A key of one of these does not say what the rows are: `listing_id` may be a flat's."""
