"""English words on tills, in addition to those of the demo's vocabulary; shops are invented."""

from __future__ import annotations

from collections.abc import Mapping


def words(text: str) -> tuple[str, ...]:
    """The parts of a text between bars."""
    return tuple(" ".join(part.split()) for part in text.split("|"))


SURNAMES = words(
    "Abbott|Ahmad|Alvarez|Baker|Barlow|Bennett|Brandt|Calloway|Chen|Chong|Cooper|Dalton|Delgado"
    "|Ellis|Farouk|Ferraro|Finch|Garcia|Goh|Grady|Hassan|Henley|Hoang|Ibrahim|Ishikawa|Jansen"
    "|Kapoor|Kelly|Khan|Kim|Lam|Larkin|Lee|Lim|Lopez|Maguire|Marino|Mason|Mehta|Moretti|Murphy"
    "|Nair|Ng|Nolan|Novak|Okafor|Ong|Ortega|Park|Patel|Pham|Quinn|Raja|Ramos|Reilly|Rivera|Rossi"
    "|Santos|Sato|Schultz|Shah|Singh|Sokolov|Sullivan|Tan|Teo|Torres|Tran|Vance|Vega|Walsh|Wong"
    "|Yamada|Yap|Yusof|Zhang"
)
PLACES = words(
    "Harbor|Lakeside|Sunset|Golden|Silver|Royal|Pacific|Atlantic|Midtown|Uptown|Old Town|Corner"
    "|Village|Central|Union|Liberty|Summit|Valley|River|Ocean|Mountain|Prairie|Desert|Garden|Park"
    "|Bayview|Hillside|Northside|Southgate|Eastern|Western|Imperial|Grand|Lucky|Happy|Blue Moon"
    "|Red Dragon|Green Leaf|White Rose|Black Bear|Three Kings|Seven Seas|Twin Oaks|Big Apple"
    "|Little Italy|New World|First Choice|Evergreen|Starlight|Rainbow|Diamond|Crystal|Phoenix"
    "|Sunrise|Moonlight|Orchid|Jade|Lotus|Tiger|Panda|Elephant|Falcon|Eagle|Anchor|Lighthouse"
)
TRADES = words(
    "Cafe|Coffee|Coffee House|Grill|Bar & Grill|Pizza|Pizzeria|Kitchen|Diner|Bistro|Restaurant"
    "|Noodle House|Sushi|Steakhouse|Burgers|BBQ|Bakery|Deli|Market|Supermarket|Foods|Grocery|Mart"
    "|Mini Market|Wholesale|Liquor|Wine & Spirits|Pharmacy|Drug Store|Hardware|Home Center|Books"
    "|Stationery|Electronics|Shoes|Fashion|Boutique|Gas|Fuel Stop|Auto Parts|Car Wash|Parking"
    "|Hotel|Pub|Tavern|Brewery|Ice Cream|Juice Bar|Tea Room|Seafood|Trading|Enterprise|Sports|Pet"
    " Supplies|Toys|Florist|Beauty|Salon|Optical|Clinic|Outlet|Department Store|Superstore|Cinema"
    "|Bookstore|Furniture|Garden Centre|Dry Cleaning|Laundry|Gift Shop|Museum Shop|Food Court"
)
COMPANY = words(
    "Inc.|LLC|Ltd|Sdn Bhd|Sdn. Bhd.|SDN BHD|Pte Ltd|Pty Ltd|Co.|Corp|PLC|Pvt Ltd|& Sons"
)
STREETS = words(
    "{} Main St|{} Main Street|{} E 5th Ave|{} Broadway|{} N First Street|{} Market St|{} Elm St."
    "|{} W Lake Blvd|{} Park Avenue|{} Highway 41|{} S Washington St|{} Oak Ridge Rd|{} High"
    " Street|{} Station Road|{} King St|{} Queens Road|Unit {} Riverside Mall|{} George Street|Lot"
    " {}, Jalan Besar|No. {}, Jalan Bukit 3/2|{}, Jalan Permai 7|{} & {} Jalan Perdana|Lot G-{},"
    " Plaza Mewah|Blk {} Toa Heights #01-12|{} Orchard Lane|Shop {}, Level 2|{} Connaught Rd|{} MG"
    " Road|{} Collins Street|{} Sunset Blvd|{} Mission Street|{} Peachtree Rd NE|{} State Route 9"
    "|{} Sixth Avenue|{} Canal St|{} NW 23rd Pl|Terminal {} Departures|Suite {}"
)
TOWNS = words(
    "New York, NY {}|Boston, MA {}|Chicago, IL {}|San Francisco CA {}|Los Angeles, CA {}|Austin TX"
    " {}|Seattle, WA {}|Denver CO {}|Las Vegas, NV {}|Portland, OR {}|Miami FL {}|Atlanta, GA {}"
    "|San Diego, CA {}|Houston, Texas {}|Phoenix, AZ {}|Orlando, FL|Honolulu, HI {}|Toronto, ON"
    "|Vancouver BC|London W1D 4HS|Manchester M2 5WA|York YO1 7HH|Edinburgh|Sydney NSW 2000"
    "|Melbourne VIC 3000|Singapore {}|{} Kuala Lumpur|{} Petaling Jaya, Selangor|{} Johor Bahru|{}"
    " Shah Alam|Penang|Hong Kong|Mumbai {}|Bangalore {}|Dublin 2|Auckland|Cape Town"
)
FOODS = words(
    "apples|apple gala|bananas|organic bananas|oranges navel|lemons|limes|grapes red|strawberries"
    "|blueberries|avocado|tomato roma|potatoes russet|onion yellow|garlic|carrots|celery|lettuce"
    "|spinach|broccoli|cucumber|mushrooms|green beans|corn|bell pepper|zucchini|cilantro|ginger"
    "|whole milk|2% milk|skim milk|half & half|heavy cream|butter unsalted|sour cream|yogurt|greek"
    " yogurt|cream cheese|cheddar sharp|mozzarella|swiss cheese|parmesan|eggs large|egg whites"
    "|white bread|wheat bread|bagels|english muffins|tortillas|croissant|donut glazed|cinnamon"
    " roll|ground beef|chicken breast|chicken thighs|pork chops|bacon|ham sliced|turkey deli"
    "|salmon filet|shrimp|tuna can|hot dogs|sausage|steak ribeye|beef stew|lamb chops|frozen pizza"
    "|ice cream|frozen peas|french fries|waffles|rice jasmine|pasta|spaghetti|mac & cheese|tomato"
    " sauce|olive oil|vegetable oil|flour|sugar|brown sugar|salt|black pepper|ketchup|mustard|mayo"
    "|soy sauce|peanut butter|strawberry jam|honey|maple syrup|cereal|granola|oatmeal|crackers"
    "|potato chips|pretzels|popcorn|cookies|chocolate bar|candy|gum|coffee ground|tea bags|orange"
    " juice|apple juice|cola 2l|diet cola|sparkling water|spring water|sports drink|energy drink"
    "|beer 6pk|red wine|vodka|cat food|dog treats|paper towels|toilet paper|napkins|trash bags"
    "|dish soap|laundry detergent|bleach|sponge|foil|sandwich bags|shampoo|conditioner|toothpaste"
    "|toothbrush|deodorant|body wash|lotion|sunscreen|razors|cotton balls|vitamins|aspirin"
    "|ibuprofen|cough syrup|bandages|diapers|baby wipes|formula|batteries aa|light bulb|candle"
    "|greeting card|magazine|newspaper|flowers|bag|plastic bag|bag fee|bottle deposit|ice"
)
DISHES = words(
    "caesar salad|house salad|greek salad|soup of day|clam chowder|tomato soup|chicken wings"
    "|buffalo wings|nachos|calamari|spring rolls|edamame|garlic bread|bruschetta|fries|sweet"
    " potato fries|onion rings|coleslaw|mashed potato|cheeseburger|bacon burger|veggie burger"
    "|hamburger|club sandwich|blt|reuben|grilled cheese|tuna melt|chicken wrap|burrito|tacos"
    "|quesadilla|fajitas|enchiladas|pad thai|fried rice|chow mein|kung pao chicken|orange chicken"
    "|sweet & sour|dim sum|dumplings|ramen|udon|california roll|spicy tuna roll|salmon sashimi"
    "|miso soup|bento|teriyaki|bibimbap|pho|banh mi|green curry|butter chicken|tikka masala|naan"
    "|samosa|biryani|roti canai|nasi lemak|nasi goreng|char kway teow|laksa|satay|hainan chicken"
    " rice|teh tarik|kopi o|milo ais|teh o ais|mee goreng|ayam goreng|margherita|pepperoni pizza"
    "|hawaiian pizza|lasagna|carbonara|fettuccine alfredo|spaghetti bolognese|risotto|ribeye|ny"
    " strip|filet mignon|prime rib|fish & chips|grilled salmon|lobster|crab cakes|shrimp scampi"
    "|oysters|ribs|pulled pork|brisket|fried chicken|meatloaf|pot roast|pancakes|waffle|french"
    " toast|omelette|eggs benedict|bacon|toast|hash browns|oatmeal|cheesecake|brownie|apple pie"
    "|ice cream|tiramisu|chocolate cake|creme brulee|sundae|coffee|latte|cappuccino|espresso"
    "|americano|flat white|mocha|hot chocolate|tea|iced tea|green tea|chai|coke|diet coke|sprite"
    "|lemonade|root beer|orange juice|soda|sparkling water|bottled water|bud light|ipa|draft beer"
    "|pint lager|guinness|house red|pinot noir|chardonnay|prosecco|margarita|mojito|martini|old"
    " fashioned|gin & tonic|bloody mary|sake|kids meal|combo #1|combo 3|lunch special|buffet adult"
    "|set lunch|set dinner"
)
THINGS = words(
    "usb cable|phone charger|hdmi cable|mouse wireless|keyboard|headphones|memory card 64gb|ink"
    " cartridge|a4 paper 80gsm|ball pen blue|marker pen|notebook a5|stapler|envelope|sticky notes"
    "|file folder|glue stick|scissors|tape|calculator|t-shirt|jeans|dress shirt|socks 3pk|jacket"
    "|hoodie|sneakers|sandals|belt|hat|scarf|dress|skirt|polo|shorts|watch|sunglasses|backpack"
    "|wallet|umbrella|hammer|screwdriver set|drill bit|wood screws|nails|paint white 1gal|brush"
    " 2in|sandpaper|pvc pipe|elbow 1/2|wire 2.5mm|switch|socket|led bulb 9w|extension cord|padlock"
    "|key copy|hose|soil mix|fertilizer|pot 8in|lawn bags|motor oil|wiper blade|coolant|spark plug"
    "|unleaded|regular|diesel|premium|car wash|air freshener|parking|ticket adult|ticket child"
    "|admission|day pass|locker|towel rental|haircut|shave|manicure|dry clean shirt|trousers|alter"
    "|room charge|night stay|city tax|breakfast|minibar|valet|shipping|delivery fee|gift wrap|gift"
    " card|book|paperback|puzzle|board game|doll|toy car|balloon|party cups|frame|vase|pillow|bed"
    " sheet|towel|curtain|lamp|rug|chair|table|shelf|mirror|clock|fan|kettle|toaster|blender"
    "|frying pan|knife|plate|bowl|mug|glass set|cutting board|storage box|hanger|basket|broom|mop"
)
BEFORE = words(
    "org|fresh|lg|sm|med|premium|classic|natural|reduced fat|low fat|spicy|crispy|grilled|iced|hot"
    "|large|small|double|mini|jumbo|extra|kids|frozen|whole|sliced|diced|signature|homemade|local"
    "|mixed|sweet|smoked|roasted|black|white|red|green|blue|new|special|gv|kh|md|sg"
)
AFTER = words(
    "12oz|16 oz|1 lb|500g|1kg|250ml|1.5l|2pk|6ct|12 ct|(l)|(s)|(h)|lg|sm|reg|combo|set|w/ fries|no"
    " ice|bnls|spcl|asst|ea|pc|box|bottle|can|bag|pack|roll|pair|xl|m|plain|orig|mix|pie|ltr|ct"
)
MODIFIERS = words(
    "extra cheese|add bacon|no onion|no ice|less sugar|medium rare|well done|rare|side ranch|on"
    " the side|no mayo|add avocado|gluten free|to go|dine in|take away|extra shot|soy milk|oat"
    " milk|whipped cream|add egg|spicy|mild|large|sub salad|with rice|hot|cold|no salt|1/2 portion"
)

KEYS: Mapping[str, tuple[str, ...]] = {
    "subtotal": words(
        "Subtotal|SUBTOTAL|Sub Total|SUB TOTAL|Sub-Total|SUB-TOTAL|Subtotl|SUBTTL|Sub Ttl|Net"
        " Total|Net Amount|NET|Total Before Tax|Total Excl. GST|Total Excl GST|Total (Excluding"
        " GST)|Total Excluding Tax|Taxable Amount|Merchandise|MDSE ST|Food|FOOD TOTAL|Items Total"
        "|Goods Total|Sub Total (RM)|Net Sales|Amount|Subtotal (excl. tax)|Order Subtotal|Sub"
        " Amount|SALE"
    ),
    "discount": words(
        "Discount|DISCOUNT|Disc|Disc {percent}%|{percent}% Off|Coupon|STORE COUPON|Member Discount"
        "|Less Discount|Promo|Promotion|Staff Discount|Voucher|Rebate|Savings|Total Discount|Disc."
        "|Loyalty Discount|Bill Disc|Discount Amount|Happy Hour|Senior Disc {percent}%|Employee"
        " Disc"
    ),
    "service": words(
        "Service Charge|SERVICE CHARGE|Svc Chg|SVC CHG {percent}%|Service|S.Charge|Serv Chg"
        "|Service Charge {percent}%|SC {percent}%|Svc Charge|Ser. Charge|S/C {percent}%|{percent}%"
        " Service|Add Svc Chg {percent}%|Delivery Fee|Delivery|Service Fee|Optional Service"
        " {percent}%"
    ),
    "tax": words(
        "Tax|TAX|Sales Tax|SALES TAX|TAX1|Tax 1|TAX {rate}%|Tax {rate}%|{rate}% Tax|State Tax"
        "|Local Tax|Total Tax|TOTAL TAX|GST|GST {rate}%|GST @ {rate}%|GST {rate} %|Total GST|GST"
        " Payable|SST {rate}%|Service Tax {rate}%|VAT|VAT {rate}%|VAT @ {rate}%|HST|HST {rate}%"
        "|PST|Govt Tax|Taxes|Tax Amount|Food Tax|TX|Add GST {rate}%|Add: {rate}% GST|IGST {rate}%"
        "|Sales Tax {rate}%|Estimated Tax|TAX TOTAL|Tax Due|Gov. Tax {rate}%|Prep. Food Tax"
        "|Combined Tax|General Tax"
    ),
    "second_tax": words("TAX2|Tax 2|City Tax|County Tax|PST|QST|CGST {rate}%|Liquor Tax|Bev Tax"),
    "total": words(
        "TOTAL|TOTAL|Total|Total|Total|GRAND TOTAL|Grand Total|TOTAL DUE|Total Due|AMOUNT DUE"
        "|Amount Due|AMT DUE|BALANCE DUE|Balance Due|BALANCE|TOTAL AMOUNT|Total Amount|Total Sales"
        "|TOTAL SALES|Total Sales (Inclusive of GST)|Total Sales Inclusive of GST|Total Incl. GST"
        "|Total Inclusive GST|Total (Inclusive of GST)|Total (RM)|TOTAL RM|Total USD|Nett Total"
        "|NET TOTAL|Total Payable|TO PAY|Total To Pay|Amount Payable|BILL TOTAL|Order Total|Check"
        " Total|TOTAL AMT|TTL|Purchase|TOTAL PURCHASE|Sale Total|Sale Amount|Invoice Total|PAY"
        " THIS AMOUNT|Amount|Total Owed|Net Amount|Total Bill|Fuel Total|Total Charge|Total Amt"
        " Payable|TOTAL:|Total Price"
    ),
    "rounded": words(
        "Total|TOTAL|Total After Rounding|Rounded Total|Rounded Total (RM)|Total Rounded|NET TOTAL"
        "|Grand Total|Total Payable|Amount Due|Amt Due|Total Amount Due|Final Total|Nett|Total"
        " Amount"
    ),
    "unrounded": words(
        "Total|TOTAL|Total Sales|Total Amount|Total Sales (Inclusive of GST)|Total Incl. GST|Bill"
        " Amount|Total (Incl. Tax)|Total Inclusive of GST|Total Inc. GST|Gross Total"
    ),
    "rounding": words(
        "Rounding|ROUNDING|Rounding Adj|Rounding Adj.|Rounding Adjustment|Round Adj|RND ADJ|Round"
        " Off|Round|Rounding (RM)|Round Amount|Cash Rounding|Rounding Diff|Rounding Amt"
    ),
    "cash": words(
        "Cash|CASH|Cash Tendered|CASH TEND|CASH TENDER|Cash Tender|Tendered|Tender|Paid|PAID"
        "|Payment|Cash Payment|Amount Tendered|AMT TENDERED|Cash Received|Amount Paid|Paid Amount"
        "|Cash (RM)|Received|Pay Cash|Cash USD|CASH RM|TOTAL TENDERED|Cash Paid|Customer Paid|Amt"
        " Paid"
    ),
    "card": words(
        "VISA|Visa|MASTERCARD|MasterCard|MC|AMEX|American Express|DEBIT|Debit Card|Credit Card"
        "|CREDIT|CREDIT CARD|Credit|Visa Debit|VISA CREDIT|DISCOVER|EFTPOS|Card Payment|CARD|Card"
        "|US DEBIT|Maestro|Contactless|E-Wallet|Gift Card|Master Card|Visa Card|Card Tendered"
        "|Debit Tend|CHARGE|Credit Sale|Bank Card|PAYMENT AMOUNT|VISA XX{four}|Visa ****{four}|MC"
        " #{four}"
    ),
    "change": words(
        "Change|CHANGE|Change Due|CHANGE DUE|Your Change|Cash Change|Change Given|CHANGE RM|Change"
        " (RM)|Cash Back|Balance|Change Amount|Cust. Change|TOTAL CHANGE|Chg|Return Change|Change"
        " Amt"
    ),
    "tip": words(
        "Tip|TIP|Gratuity|Tips|TIP AMOUNT|Gratuity {percent}%|Auto Grat {percent}%|Added Gratuity"
        "|Tip Amount|GRATUITY|Add Tip|Server Tip"
    ),
    "with_tip": words(
        "Total|TOTAL|Grand Total|Total w/ Tip|TOTAL PAID|Total Charged|Amount Charged"
    ),
    "before_tip": words("Amount|Base Amount|Purchase|Check Amount|Sale|Amount:|Bill Amount|Charge"),
    "included": words(
        "Incl. VAT {rate}%|Tax included {rate}%|GST Included {rate}%|VAT incl.|Includes GST of"
        "|Total includes GST|Inclusive of {rate}% GST|GST incl in total|Incl Tax|VAT Content"
    ),
    "repeat": words(
        "Amount|AMOUNT|Amount Charged|TOTAL|Total|Total Paid|Sale Amount|Trans Amount|PURCHASE"
        "|Transaction Amount|Charged|TOTAL AMOUNT|Amount USD$|Sale|TOTAL CHARGED|Net Total"
    ),
    "count": words(
        "Items|No. of items|ITEM COUNT|# ITEMS SOLD|Total Items|Total Item|Total Qty|TOTAL"
        " QUANTITY|Item(s)|Qty|No of Items|ITEMS SOLD|Total Number of Items|Item Count|Number of"
        " Items|Pcs"
    ),
    "saved": words(
        "You Saved|YOU SAVED|Total Savings|Your Savings|Points Earned|Loyalty Points|Points"
        " Balance|Reward Points|Member Savings|Today You Saved|Rewards Balance|Savings Total|Pts"
        " Earned"
    ),
    "cashier": words(
        "Cashier|CASHIER|Server|SERVER|Served by|Operator|Clerk|Host|Salesperson|Sales Rep|User"
        "|Staff|Waiter|Your Server|Associate|Cashier ID|Sold By|Attendant|OP#|Emp"
    ),
    "table": words("Table|TABLE|Tbl|TBL|Table No|Guests|Covers|Pax|Cust Count|Party|Seat|GUEST"),
    "number": words(
        "Receipt|Receipt #|Receipt No|Check|CHECK #|Chk|Order|ORDER #|Order No|Invoice No|Invoice"
        " #|Inv No|Trans|TRANS#|Transaction #|Bill No|Bill #|Ticket|Ticket #|Ref|REF #|Doc No|TC#"
        "|TR#|Slip No|Reg|REG|Register|Term|Terminal|Store|STORE #|ST#|Till|POS|Batch #|Auth Code"
        "|Approval|APPR CODE|Auth|Trace|MID|TID|AID|Merchant ID|Terminal ID|Member|Member ID|Card"
        " #|Account|Counter|Document No|Station|Lane|Queue No|Invoice Number|Job #|Pump|GST ID|ABN"
        "|GST Reg No|GST No|VAT No|VAT Reg|Co. Reg|Tax ID|TIN|Reg No|GST ID No|Company No|Roc No"
        "|Phone Order|Confirmation"
    ),
    "phone": words(
        "Tel|TEL|Phone|Ph|Tel:|Phone:|Ph:|T:|Tel No|Call|Telephone|Fax|FAX|Tel/Fax|Hotline"
    ),
    "date": words(
        "Date|DATE|Date:|Date/Time|Trans Date|Invoice Date|Bill Date|Dated|Sale Date|Open"
    ),
    "time": words("Time|TIME|Time:|Closed|Opened|Start|In|Printed"),
    "title": words(
        "RECEIPT|Tax Invoice|TAX INVOICE|INVOICE|SALES RECEIPT|Cash Sale|CASH BILL|Guest Check"
        "|GUEST CHECK|Customer Copy|CUSTOMER COPY|MERCHANT COPY|Official Receipt|Simplified Tax"
        " Invoice|SALE|Order Confirmation|DUPLICATE|Dine In|DINE IN|TO GO|Take Out|TAKE AWAY|Eat"
        " In|BILL|Cash Receipt|Pick Up|Sales Slip|REPRINT|VAT RECEIPT|Original|Delivery|WALK IN"
        "|DRIVE THRU|Pre-Paid Receipt"
    ),
    "columns": words("Item|Description|DESC|ITEM DESCRIPTION|Product|Name|Particulars|Code/Desc"),
    "column_count": words("Qty|QTY|Quantity|Qnty|Q'ty"),
    "column_unit": words("Price|Unit Price|U.Price|Rate|PRICE|U/Price|Unit|Each|S/Price|U.P"),
    "column_price": words("Amount|Total|AMOUNT|Amt|Price|Ext|Total (RM)|RM|Subtotal|AMT|Ext Price"),
    "column_else": words("Tax|Disc|TAX|DISC|Code|GST|D%|S/N"),
}
"""The words before values."""

FOOT = words(
    "Thank you|THANK YOU|Thank you for shopping with us|THANK YOU FOR YOUR BUSINESS|Please come"
    " again|PLEASE COME AGAIN|Have a nice day|HAVE A GREAT DAY|See you again soon|Goods sold are"
    " not returnable|Goods sold are not refundable|Exchange within 7 days with receipt|No refunds"
    "|All sales final|Return policy: {} days|Items may be returned within {} days|Tell us about"
    " your visit|Take our survey and win ${}|Survey code {}|Visit us at www.example.com"
    "|www.example.com|Follow us @example|Wifi password {}|CUSTOMER COPY|Signature|X______________"
    "|I agree to pay the above total amount|Suggested tip|Tip is not included|Gratuity not"
    " included|Prices include GST|All prices in USD|We are hiring|Open 24 hours|Mon-Fri 9am-6pm"
    "|Keep this receipt|This is not a tax receipt|Card type: VISA|Entry method: chip|Verified by"
    " PIN|APPROVED|Approved {}|Entry: Swiped|NO SIGNATURE REQUIRED|Feedback? Call {}|Item(s)"
    " marked * are taxable|Ask us about catering|Rate us online|Join our rewards|For your records"
    "|It was a pleasure serving you|Download our app|Powered by POS|E. & O. E.|Valid until {}"
    "|Promo ends {}|Get {} points today|Free refills|Enjoy your meal"
)
TAX_CODES = words("T|F|N|X|A|B|*|SR|ZR|S|Z|TX|NF|TF|E|O|R|H|V|FS|N F|T1|(SR)|ZRL")
